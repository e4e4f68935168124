/** Decoded values as people read them, in one line. */
import { toHex } from '../encoding/hex.ts'
import type { AbiValue } from './codec.ts'
import type { AbiParameter } from './entry.ts'

/** Byte strings longer than this, and lists of more entries, are cut. */
const MAX_BYTES = 64
const MAX_ENTRIES = 16
const MAX_CHARACTERS = 200

/** Bytes in hex, cut when they are many. */
export function bytesText(bytes: Uint8Array, most = MAX_BYTES): string {
  if (bytes.length <= most) return toHex(bytes)
  return `${toHex(bytes.subarray(0, most))}… (${bytes.length} bytes)`
}

/** A text in quotes on one line; characters that control a terminal or the text direction are escaped. */
export function quoted(text: string): string {
  const shown = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
  return JSON.stringify(shown).replace(
    /[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function listText(values: readonly AbiValue[], each: (value: AbiValue, index: number) => string): string {
  const shown = values.slice(0, MAX_ENTRIES).map(each)
  if (values.length > MAX_ENTRIES) shown.push(`… (${values.length} entries)`)
  return shown.join(', ')
}

/** One value of a parameter. */
export function valueText(parameter: AbiParameter, value: AbiValue): string {
  if (Array.isArray(value)) {
    const values = value as readonly AbiValue[]
    const array = /^(.*)\[\d*\]$/.exec(parameter.type)
    if (array === null) return `(${valuesText(parameter.components, values)})`
    const inner = { ...parameter, type: array[1] as string, name: '' }
    return `[${listText(values, (entry) => valueText(inner, entry))}]`
  }
  if (value instanceof Uint8Array) return bytesText(value)
  if (typeof value === 'string') return parameter.type === 'string' ? quoted(value) : value
  return String(value)
}

/** Values with their names, separated by commas: `to: 0x…, amount: 5`. */
export function valuesText(parameters: readonly AbiParameter[], values: readonly AbiValue[]): string {
  return listText(values, (value, i) => {
    const parameter = parameters[i]
    if (parameter === undefined) return String(value)
    const text = valueText(parameter, value)
    return parameter.name === '' ? text : `${parameter.name}: ${text}`
  })
}
