/** The arguments of an ABI-encoded input as the texts that a user would type: the inverse of `encodeCall`. */
import { decodeAbiParameters } from 'viem/utils'
import { encodable, encodeCall } from './abi.ts'
import type { Hex } from './format.ts'
import type { AbiEntry, AbiParameter } from './model.ts'

/** A parameter without names: its tuples are decoded as lists. */
function unnamed({ type, components }: AbiParameter): AbiParameter {
  return { name: '', type, ...(components && { components: components.map(unnamed) }) }
}

/** A list, a tuple or a part of one in JSON; integers have no quotes, so that they keep their digits. */
function jsonOf(parameter: AbiParameter, value: unknown): string {
  const { type, components = [] } = parameter
  const [, element] = /^(.*)\[\d*\]$/.exec(type) ?? []
  if (Array.isArray(value)) {
    const parts = value.map((each, i) =>
      jsonOf(element === undefined ? (components[i] ?? parameter) : { ...parameter, type: element }, each),
    )
    return `[${parts.join(', ')}]`
  }
  if (type === 'string') return JSON.stringify(value)
  return /^u?int|^bool/.test(type) ? String(value) : `"${String(value).toLowerCase()}"`
}

function textOf(parameter: AbiParameter, value: unknown): string {
  if (Array.isArray(value)) return jsonOf(parameter, value)
  return parameter.type === 'string' ? String(value) : String(value).toLowerCase()
}

/** A text for each parameter; `undefined` for an input that another call or no call of the function has. */
export function argumentTexts(entry: AbiEntry, input: Hex): readonly string[] | undefined {
  const data = input.toLowerCase()
  if (entry.selector === undefined || !data.startsWith(entry.selector)) return undefined
  try {
    const types = entry.inputs.map((parameter) => unnamed(encodable(parameter)))
    const values =
      types.length === 0 ? [] : decodeAbiParameters(types, `0x${data.slice(entry.selector.length)}`)
    const texts = types.map((parameter, i) => textOf(parameter, values[i]))
    return encodeCall(entry, texts) === data ? texts : undefined
  } catch {
    return undefined
  }
}
