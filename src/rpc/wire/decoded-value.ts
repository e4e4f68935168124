/** Decoded values as JSON: integers in decimal text, bytes in hex, arrays and tuples as lists. */
import { z } from 'zod'
import type { AbiValue } from '../../abi/codec.ts'
import type { AbiParameter } from '../../abi/entry.ts'
import type { Decoded } from '../../abi/registry.ts'
import { toHex } from '../../encoding/hex.ts'

/** A decoded value. */
export type DecodedJson = string | boolean | DecodedJson[]

/** The wire form of a decoded value. */
export const DecodedJsonObject: z.ZodType<DecodedJson> = z.lazy(() =>
  z.union([z.string(), z.boolean(), z.array(DecodedJsonObject)]),
)
z.globalRegistry.add(DecodedJsonObject, {
  id: 'DecodedValue',
  description: 'Integers in decimal text, bytes and addresses in hex, arrays and tuples as lists',
})

/** A value as JSON. */
export function decodedJson(value: AbiValue): DecodedJson {
  if (value instanceof Uint8Array) return toHex(value)
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'object' ? value.map(decodedJson) : value
}

/** A value with its parameter. */
export interface DecodedArgument {
  readonly parameter: AbiParameter
  readonly value: DecodedJson
}

/** The values of something decoded, with their parameters. */
export function decodedArguments({
  parameters,
  values,
}: Pick<Decoded, 'parameters' | 'values'>): readonly DecodedArgument[] {
  return parameters.flatMap((parameter, at) => {
    const value = values[at]
    return value === undefined ? [] : [{ parameter, value: decodedJson(value) }]
  })
}
