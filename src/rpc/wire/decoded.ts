/** Decoded calls, errors and events on the wire. */
import { z } from 'zod'
import type { AbiValue } from '../../abi/codec.ts'
import type { AbiParameter } from '../../abi/entry.ts'
import { type Decoded, decodedText } from '../../abi/registry.ts'
import { valueText } from '../../abi/value-text.ts'

const Argument = z.lazy(() => z.strictObject({ name: z.string(), type: z.string(), value: z.string() }))

/** `text` is the whole in one line; `output` is what a call returned, if it was given and its types are known. */
export const DecodedObject = z.lazy(() =>
  z
    .strictObject({
      name: z.string(),
      arguments: z.array(Argument),
      text: z.string(),
      output: z.string().optional(),
    })
    .meta({
      id: 'DecodedItem',
      description: 'A decoded call, error or event: its name and arguments as text',
    }),
)

/** A decoded item. */
export type RpcDecoded = z.infer<typeof DecodedObject>

function argumentsOf(
  parameters: readonly AbiParameter[],
  values: readonly AbiValue[],
): z.infer<typeof Argument>[] {
  return parameters.map((parameter, i) => ({
    name: parameter.name,
    type: parameter.type,
    value: valueText(parameter, values[i] as AbiValue),
  }))
}

/** A decoded item; `output` is what a call returned, as text. */
export function toRpcDecoded(decoded: Decoded, output?: string): RpcDecoded {
  return {
    name: decoded.name,
    arguments: argumentsOf(decoded.parameters, decoded.values),
    text: decodedText(decoded),
    ...(output !== undefined && { output }),
  }
}
