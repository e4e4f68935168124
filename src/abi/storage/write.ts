/** The slots to write for a variable to have a value: what Solidity's assignment would leave in storage. */
import { toBigInt } from '../../encoding/bytes.ts'
import {
  type ArrayType,
  type BytesType,
  elementsOf,
  type MappingType,
  type StorageLayout,
  type StructType,
  slotsOf,
} from './layout.ts'
import { VariableError, within } from './path.ts'
import { contentSlot, elementPlace, mappedPlace, memberPlace, placeOf, type StoragePlace } from './place.ts'
import { bytesLength, type ReadSlot, requireWithin } from './read.ts'
import { encodeBytes, encodeValue, type VariableValue } from './value-type.ts'

type Members = Readonly<Record<string, VariableValue>>

function isMembers(value: VariableValue): value is Members {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array)
}

class VariableWriter {
  readonly #layout: StorageLayout
  readonly #read: ReadSlot
  readonly #writes = new Map<bigint, bigint>()

  constructor(layout: StorageLayout, read: ReadSlot) {
    this.#layout = layout
    this.#read = read
  }

  /** Words by slot. */
  get writes(): ReadonlyMap<bigint, bigint> {
    return this.#writes
  }

  assign(place: StoragePlace, value: VariableValue, depth = 0): void {
    requireWithin(BigInt(this.#writes.size), depth)
    const { slot, offset, type } = place
    if (type.kind === 'mapping') this.#assignKeys(type, slot, value, depth)
    else if (type.kind === 'struct') this.#assignMembers(type, slot, value, depth)
    else if (type.kind === 'array') this.#assignElements(type, place, value, depth)
    else if ('size' in type) this.#putBytes(slot, offset, type.size, encodeValue(type, value))
    else this.#assignBytes(type, slot, encodeBytes(type, value))
  }

  /** Keys that are absent keep their values. */
  #assignKeys(type: MappingType, slot: bigint, value: VariableValue, depth: number): void {
    if (!isMembers(value)) throw new VariableError(`expected ${type.label}: an object of values by key`)
    for (const [key, each] of Object.entries(value)) {
      within(`[${key}]`, () => this.assign(mappedPlace(this.#layout, type, slot, key), each, depth + 1))
    }
  }

  /** Members that are absent keep their values. */
  #assignMembers(type: StructType, slot: bigint, value: VariableValue, depth: number): void {
    if (!isMembers(value)) throw new VariableError(`expected ${type.label}: an object of its members`)
    for (const [name, each] of Object.entries(value)) {
      within(`.${name}`, () => {
        const member = type.members.find((candidate) => candidate.name === name)
        if (member === undefined) {
          throw new VariableError(`${type.label} has ${type.members.map((known) => known.name).join(', ')}`)
        }
        this.assign(memberPlace(this.#layout, slot, member), each, depth + 1)
      })
    }
  }

  #assignElements(type: ArrayType, place: StoragePlace, value: VariableValue, depth: number): void {
    if (!Array.isArray(value)) throw new VariableError(`expected ${type.label}: a list`)
    const values: readonly VariableValue[] = value
    if (type.length !== undefined && type.length !== BigInt(values.length)) {
      throw new VariableError(`expected ${type.label}: a list of ${type.length} values`)
    }
    this.#erase(place, depth)
    if (type.length === undefined) this.#put(place.slot, BigInt(values.length))
    values.forEach((each, i) => {
      const element = elementPlace(this.#layout, type, place.slot, BigInt(i))
      within(`[${i}]`, () => this.assign(element, each, depth + 1))
    })
  }

  #assignBytes(type: BytesType, slot: bigint, bytes: Uint8Array): void {
    this.#erase({ slot, offset: 0, type }, 0)
    const content = new Uint8Array(Math.ceil(bytes.length / 32) * 32 || 32)
    content.set(bytes)
    if (bytes.length < 32) {
      this.#put(slot, toBigInt(content) | BigInt(bytes.length * 2))
      return
    }
    requireWithin(BigInt(content.length / 32), 0)
    this.#put(slot, BigInt(bytes.length * 2 + 1))
    const first = contentSlot(slot)
    for (let i = 0; i * 32 < content.length; i++) {
      this.#put(first + BigInt(i), toBigInt(content.subarray(i * 32, i * 32 + 32)))
    }
  }

  /** Sets all bytes of a place to zero, with what a dynamic type has elsewhere; mappings stay. */
  #erase({ slot, offset, type }: StoragePlace, depth: number): void {
    requireWithin(BigInt(this.#writes.size), depth)
    if (type.kind === 'struct') {
      for (const member of type.members) this.#erase(memberPlace(this.#layout, slot, member), depth + 1)
    } else if (type.kind === 'array') this.#eraseElements(type, slot, depth)
    else if ('size' in type) this.#putBytes(slot, offset, type.size, 0n)
    else if (type.kind !== 'mapping') {
      const { length, isLong } = bytesLength(this.#word(slot))
      if (isLong) this.#zero(contentSlot(slot), (length + 31n) / 32n)
      this.#put(slot, 0n)
    }
  }

  #eraseElements(type: ArrayType, slot: bigint, depth: number): void {
    const { type: element, perSlot } = elementsOf(this.#layout, type)
    const length = type.length ?? this.#word(slot)
    if ('size' in element) {
      const first = type.length === undefined ? contentSlot(slot) : slot
      this.#zero(first, (length + perSlot - 1n) / perSlot)
    } else {
      requireWithin(length * slotsOf(this.#layout, element), depth)
      for (let i = 0n; i < length; i++) {
        this.#erase(elementPlace(this.#layout, type, slot, i), depth + 1)
      }
    }
    if (type.length === undefined) this.#put(slot, 0n)
  }

  #zero(first: bigint, slots: bigint): void {
    requireWithin(slots, 0)
    for (let i = 0n; i < slots; i++) this.#put(first + i, 0n)
  }

  #word(slot: bigint): bigint {
    return this.#writes.get(slot) ?? this.#read(slot)
  }

  #put(slot: bigint, word: bigint): void {
    this.#writes.set(BigInt.asUintN(256, slot), word)
  }

  /** Writes some bytes of a slot and keeps the others. */
  #putBytes(slot: bigint, offset: number, size: number, value: bigint): void {
    const shift = BigInt(offset * 8)
    const mask = ((1n << BigInt(size * 8)) - 1n) << shift
    const word = this.#word(slot)
    this.#put(slot, (word ^ (word & mask)) | (value << shift))
  }
}

/**
 * Words by slot, to write for a place to have a value. `read` is asked for the words that stand there, since others share
 * them, and since what was longer is erased. Throws a `VariableError` that names the part where the value does not fit.
 */
export function placeWrites(
  layout: StorageLayout,
  place: StoragePlace,
  value: VariableValue,
  read: ReadSlot,
): ReadonlyMap<bigint, bigint> {
  const writer = new VariableWriter(layout, read)
  writer.assign(place, value)
  return writer.writes
}

/** Those writes for the variable of a path. Throws a `VariableError` that begins with the path. */
export function variableWrites(
  layout: StorageLayout,
  path: string,
  value: VariableValue,
  read: ReadSlot,
): ReadonlyMap<bigint, bigint> {
  const place = placeOf(layout, path)
  return within(path, () => placeWrites(layout, place, value, read))
}
