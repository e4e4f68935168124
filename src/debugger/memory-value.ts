/**
 * Values of variables in memory and in call data
 * (https://docs.soliditylang.org/en/latest/internals/layout_in_memory.html, the ABI specification for call data).
 */
import type { ArrayType, StorageType, StructType } from '../abi/storage/layout.ts'
import { toBigInt } from '../encoding/bytes.ts'
import type { SourceTypes } from './source-types.ts'
import {
  arrayValue,
  bytesOfWord,
  bytesText,
  isValueType,
  partedValue,
  plainValue,
  UNKNOWN_TEXT,
  type Value,
  valueText,
} from './value.ts'

const WORD = 32
const WORDS = BigInt(WORD)

/** A value of a type at a byte. Names are those of the value; the bytes beyond the end are not known. */
export interface BytesReader {
  at(name: string, key: string, offset: bigint): Value
}

class Bytes {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  word(offset: bigint): bigint | undefined {
    const bytes = this.range(offset, WORDS)
    return bytes && toBigInt(bytes)
  }

  range(offset: bigint, length: bigint): Uint8Array | undefined {
    if (offset + length > BigInt(this.#bytes.length)) return undefined
    return this.#bytes.subarray(Number(offset), Number(offset + length))
  }
}

/** What readers of both places share. */
abstract class Reader implements BytesReader {
  protected readonly bytes: Bytes
  protected readonly types: SourceTypes

  constructor(bytes: Uint8Array, types: SourceTypes) {
    this.bytes = new Bytes(bytes)
    this.types = types
  }

  at(name: string, key: string, offset: bigint): Value {
    const type = this.types.typeOf(key)
    if (type === undefined) return plainValue(name, UNKNOWN_TEXT, UNKNOWN_TEXT)
    switch (type.kind) {
      case 'string':
      case 'bytes':
        return this.content(name, type.kind, offset + WORDS, this.bytes.word(offset))
      case 'array':
        return this.array(name, type, offset)
      case 'struct':
        return this.struct(name, type, offset)
      case 'mapping':
        return plainValue(name, type.label, UNKNOWN_TEXT)
      default: {
        const word = this.bytes.word(offset)
        const members = this.types.membersOf(key)
        const text = word === undefined ? UNKNOWN_TEXT : valueText(type, bytesOfWord(type, word), members)
        return plainValue(name, type.label, text)
      }
    }
  }

  /** The bytes of a `string` or `bytes`. */
  content(name: string, kind: 'string' | 'bytes', offset: bigint, length: bigint | undefined): Value {
    const found = length === undefined ? undefined : this.bytes.range(offset, length)
    return plainValue(name, kind, found === undefined ? UNKNOWN_TEXT : bytesText(kind, found))
  }

  protected array(name: string, type: ArrayType, offset: bigint): Value {
    const length = type.length ?? this.bytes.word(offset)
    if (length === undefined) return plainValue(name, type.label, UNKNOWN_TEXT)
    return this.elements(name, type, type.length === undefined ? offset + WORDS : offset, length)
  }

  abstract elements(name: string, type: ArrayType, first: bigint, length: bigint): Value
  protected abstract struct(name: string, type: StructType, offset: bigint): Value
}

/**
 * The words at the beginning of memory that solc reserves. The last of them stays zero: variables without a value yet
 * point to it, also before memory has grown.
 */
const RESERVED_BYTES = 4 * WORD

function withReserved(memory: Uint8Array): Uint8Array {
  if (memory.length >= RESERVED_BYTES) return memory
  const more = new Uint8Array(RESERVED_BYTES)
  more.set(memory)
  return more
}

/** Reads memory: each member and element takes a word, which points to what is longer. */
export class MemoryReader extends Reader {
  constructor(memory: Uint8Array, types: SourceTypes) {
    super(withReserved(memory), types)
  }

  elements(name: string, type: ArrayType, first: bigint, length: bigint): Value {
    return arrayValue(name, type.label, length, (index, number) =>
      this.#inWord(index, type.base, first + WORDS * number),
    )
  }

  protected struct(name: string, type: StructType, offset: bigint): Value {
    // Before 0.7 a struct in memory leaves its mappings out.
    const members = type.members.filter((member) => this.types.typeOf(member.type)?.kind !== 'mapping')
    const names = members.map((member) => member.name)
    return partedValue(name, type.label, type.label.replace(/^struct /, ''), names, (wanted) => {
      const index = names.indexOf(wanted)
      const member = members[index]
      return member && this.#inWord(wanted, member.type, offset + WORDS * BigInt(index))
    })
  }

  #inWord(name: string, key: string, offset: bigint): Value {
    const type = this.types.typeOf(key)
    if (type === undefined || isValueType(type)) return this.at(name, key, offset)
    const pointer = this.bytes.word(offset)
    return pointer === undefined ? plainValue(name, type.label, UNKNOWN_TEXT) : this.at(name, key, pointer)
  }
}

/** Reads call data: what has a fixed length stands in place, and of the rest the distance from the beginning of its tuple. */
export class CallDataReader extends Reader {
  /** By key: a type may stand in others any number of times. */
  readonly #dynamic = new Map<string, boolean>()
  readonly #heads = new Map<string, bigint>()

  elements(name: string, type: ArrayType, first: bigint, length: bigint): Value {
    const size = this.#headSize(type.base)
    return arrayValue(name, type.label, length, (index, number) =>
      this.#inTuple(index, type.base, first, size * number),
    )
  }

  protected struct(name: string, type: StructType, offset: bigint): Value {
    const names = type.members.map((member) => member.name)
    let heads: readonly bigint[] | undefined
    return partedValue(name, type.label, type.label.replace(/^struct /, ''), names, (wanted) => {
      heads ??= this.#headsOf(type.members)
      const index = names.indexOf(wanted)
      const member = type.members[index]
      return member && this.#inTuple(wanted, member.type, offset, heads[index] ?? 0n)
    })
  }

  /** The members of a tuple that begins at a byte. */
  tuple(members: readonly { readonly name: string; readonly type: string }[], start: bigint): Value[] {
    const heads = this.#headsOf(members)
    return members.map(({ name, type }, index) => this.#inTuple(name, type, start, heads[index] ?? 0n))
  }

  /** Where the members of a tuple stand in it. */
  #headsOf(members: readonly { readonly type: string }[]): readonly bigint[] {
    let head = 0n
    return members.map(({ type }) => {
      const own = head
      head += this.#headSize(type)
      return own
    })
  }

  #inTuple(name: string, key: string, start: bigint, head: bigint): Value {
    const type = this.types.typeOf(key)
    if (type === undefined || !this.#isDynamic(key)) return this.at(name, key, start + head)
    const distance = this.bytes.word(start + head)
    return distance === undefined
      ? plainValue(name, type.label, UNKNOWN_TEXT)
      : this.at(name, key, start + distance)
  }

  #isDynamic(key: string): boolean {
    const known = this.#dynamic.get(key)
    if (known !== undefined) return known
    // Of a type that holds itself, which only a malformed tree has.
    this.#dynamic.set(key, false)
    const type = this.types.typeOf(key)
    const found = type !== undefined && this.#readDynamic(type)
    this.#dynamic.set(key, found)
    return found
  }

  #readDynamic(type: StorageType): boolean {
    if (type.kind === 'array') return type.length === undefined || this.#isDynamic(type.base)
    if (type.kind === 'struct') return type.members.some((member) => this.#isDynamic(member.type))
    return type.kind === 'string' || type.kind === 'bytes'
  }

  /** Bytes of a type within a tuple. */
  #headSize(key: string): bigint {
    const known = this.#heads.get(key)
    if (known !== undefined) return known
    this.#heads.set(key, WORDS)
    const type = this.types.typeOf(key)
    const size = type === undefined || this.#isDynamic(key) ? WORDS : this.#readHeadSize(type)
    this.#heads.set(key, size)
    return size
  }

  #readHeadSize(type: StorageType): bigint {
    if (type.kind === 'array') return (type.length ?? 0n) * this.#headSize(type.base)
    if (type.kind !== 'struct') return WORDS
    return type.members.reduce((size, member) => size + this.#headSize(member.type), 0n)
  }
}
