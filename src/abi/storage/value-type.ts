/** Values of at most one word: from JSON to the number in the slot, and back, and as keys of mappings. */
import { fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { fromHex, isHexDigits, toFixedHex, toHex } from '../../encoding/hex.ts'
import type { BytesType, ValueType } from './layout.ts'
import { VariableError } from './path.ts'

/** A value of a variable, as JSON has it; in process also big integers and bytes. */
export type VariableValue =
  | bigint
  | number
  | boolean
  | string
  | Uint8Array
  | readonly VariableValue[]
  | { readonly [member: string]: VariableValue }

/** Longest text of an integer: 256 bits in decimal with a sign, and more in hex. */
const MAX_INTEGER_TEXT = 80

/** Bytes of hex text; `undefined` for anything else. */
function hexBytes(value: VariableValue): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (typeof value !== 'string' || !value.startsWith('0x') || value.length % 2 !== 0) return undefined
  return isHexDigits(value.slice(2)) ? fromHex(value) : undefined
}

/** An integer in decimal or hex; `undefined` for anything else. */
function integer(value: VariableValue): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || value.length > MAX_INTEGER_TEXT) return undefined
  return /^(0x[0-9a-f]+|-?\d+)$/i.test(value) ? BigInt(value) : undefined
}

function boundedInteger({ kind, label, size }: ValueType, value: VariableValue): bigint {
  const bits = BigInt(size * 8)
  const [least, end] = kind === 'int' ? [-(1n << (bits - 1n)), 1n << (bits - 1n)] : [0n, 1n << bits]
  const found = integer(value)
  if (found === undefined)
    throw new VariableError(`expected ${label}: a number, or its text in decimal or hex`)
  if (found < least || found >= end) throw new VariableError(`${found} is out of the range of ${label}`)
  return BigInt.asUintN(size * 8, found)
}

/** The number in the slot, of as many bytes as the type. Throws a `VariableError` that names what is expected. */
export function encodeValue(type: ValueType, value: VariableValue): bigint {
  if (type.kind === 'bool') {
    if (typeof value === 'boolean') return value ? 1n : 0n
    if (value === 'true' || value === 'false') return value === 'true' ? 1n : 0n
    throw new VariableError('expected bool: true or false')
  }
  if (type.kind === 'uint' || type.kind === 'int') return boundedInteger(type, value)
  const bytes = hexBytes(value)
  if (bytes?.length === type.size) return toBigInt(bytes)
  throw new VariableError(`expected ${type.label}: ${type.size} bytes in hex`)
}

/** What is read from the bytes of a slot: a number, a boolean, or bytes in hex. */
export function decodeValue(type: ValueType, bytes: bigint): bigint | boolean | string {
  if (type.kind === 'bool') return bytes !== 0n
  if (type.kind === 'uint') return bytes
  return type.kind === 'int' ? BigInt.asIntN(type.size * 8, bytes) : toFixedHex(bytes, type.size)
}

/** The bytes of a `string`, or of `bytes` in hex. Throws a `VariableError` that names what is expected. */
export function encodeBytes({ kind }: BytesType, value: VariableValue): Uint8Array {
  if (kind === 'string') {
    if (typeof value === 'string') return new TextEncoder().encode(value)
    throw new VariableError('expected string: a text')
  }
  const bytes = hexBytes(value)
  if (bytes === undefined) throw new VariableError('expected bytes: hex with 0x')
  return bytes
}

/** The text of a `string`, `bytes` in hex. */
export function decodeBytes({ kind }: BytesType, bytes: Uint8Array): string {
  return kind === 'string' ? new TextDecoder().decode(bytes) : toHex(bytes)
}

/** A key as it is hashed: values fill a word, `bytes4` and the like from its high end; `string` and `bytes` stand as they are. */
export function keyBytes(type: ValueType | BytesType, key: VariableValue): Uint8Array {
  if (!('size' in type)) return encodeBytes(type, key)
  return wordOfKey(type, encodeValue(type, key))
}

/** The key of a word as a path has it, and as it is hashed; `undefined` for a word that is no such value. */
export function keyOfWord(
  type: ValueType,
  word: bigint,
): { readonly text: string; readonly bytes: Uint8Array } | undefined {
  const { kind, size } = type
  const value = BigInt.asUintN(size * 8, kind === 'fixed-bytes' ? word >> BigInt(256 - size * 8) : word)
  const bytes = wordOfKey(type, value)
  const isKey = toBigInt(bytes) === word && (kind !== 'bool' || value < 2n)
  return isKey ? { text: String(decodeValue(type, value)), bytes } : undefined
}

function wordOfKey({ kind, size }: ValueType, value: bigint): Uint8Array {
  if (kind === 'fixed-bytes') return fromBigIntFixed(value << BigInt(256 - size * 8), 32)
  const signed = kind === 'int' ? BigInt.asIntN(size * 8, value) : value
  return fromBigIntFixed(BigInt.asUintN(256, signed), 32)
}
