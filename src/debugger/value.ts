/** Values of variables as a person reads them, with their parts. */
import type { StorageType, ValueType } from '../abi/storage/layout.ts'
import { decodeValue } from '../abi/storage/value-type.ts'
import { toHex } from '../encoding/hex.ts'

/** Bytes of a text that are shown. */
const MOST_BYTES = 65_536

/** A value, or a part of one. */
export interface Value {
  /** Of the variable or member, or the index or key. */
  readonly name: string
  /** As Solidity writes it. */
  readonly type: string
  /** `42`, `"text"`, `0x12`, `Kind.Open`; for a value with parts what it is. */
  readonly text: string
  /** How many parts it has. */
  readonly size: number
  /** Some of the parts, in order. */
  parts(start: number, count: number): readonly Value[]
  /** A part by its name, also one that `parts` does not list: any key of a mapping. */
  part(name: string): Value | undefined
}

const NO_PARTS = { size: 0, parts: () => [], part: () => undefined } as const

/** A value without parts. */
export function plainValue(name: string, type: string, text: string): Value {
  return { name, type, text, ...NO_PARTS }
}

/** A value whose parts are known by their names. */
export function partedValue(
  name: string,
  type: string,
  text: string,
  names: readonly string[],
  partOf: (name: string) => Value | undefined,
): Value {
  return {
    name,
    type,
    text,
    size: names.length,
    parts: (start, count) => names.slice(start, start + count).flatMap((one) => partOf(one) ?? []),
    part: partOf,
  }
}

/** The elements of an array. `elementOf` is asked for indexes below the length. */
export function arrayValue(
  name: string,
  type: string,
  length: bigint,
  elementOf: (name: string, index: bigint) => Value,
): Value {
  const size = Number(length < BigInt(Number.MAX_SAFE_INTEGER) ? length : BigInt(Number.MAX_SAFE_INTEGER))
  return {
    name,
    type,
    text: `${type.replace(/\[\]$/, '')}${type.endsWith('[]') ? `[${length}]` : ''}`,
    size,
    parts(start, count) {
      const end = Math.min(size, start + count)
      return Array.from({ length: Math.max(0, end - start) }, (_, i) =>
        elementOf(String(start + i), BigInt(start + i)),
      )
    },
    part(index) {
      if (!/^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(index) || BigInt(index) >= length) return undefined
      return elementOf(index, BigInt(index))
    },
  }
}

/** A number of as many bytes as its type, as text. */
export function valueText(type: ValueType, bytes: bigint, members?: readonly string[]): string {
  const member = members?.[Number(bytes)]
  if (member !== undefined) return `${type.label.replace(/^enum /, '')}.${member}`
  return String(decodeValue(type, bytes))
}

/** The bytes of a value in a word of the stack, of memory or of call data, where `bytes4` and the like stand at the high end. */
export function bytesOfWord({ kind, size }: ValueType, word: bigint): bigint {
  return BigInt.asUintN(size * 8, kind === 'fixed-bytes' ? word >> BigInt(256 - size * 8) : word)
}

/** The text of a `string`, or of `bytes` in hex; what is behind 64 KiB is left out. */
export function bytesText(kind: 'string' | 'bytes', bytes: Uint8Array): string {
  const shown = bytes.subarray(0, MOST_BYTES)
  const text = kind === 'string' ? JSON.stringify(new TextDecoder().decode(shown)) : toHex(shown)
  return shown.length < bytes.length ? `${text}…` : text
}

/** Where a word is not known, or does not fit its type. */
export const UNKNOWN_TEXT = '?'

/** Is it a type of one word? */
export function isValueType(type: StorageType): type is ValueType {
  return 'size' in type
}
