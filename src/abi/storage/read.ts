/** The value of a variable, read from the slots that it takes. */
import { fromBigIntFixed } from '../../encoding/bytes.ts'
import type { ArrayType, BytesType, StorageLayout } from './layout.ts'
import { VariableError, within } from './path.ts'
import { contentSlot, elementPlace, memberPlace, placeOf, type StoragePlace } from './place.ts'
import { decodeBytes, decodeValue, type VariableValue } from './value-type.ts'

/** Words of a contract's storage by slot; 0 where there is none. */
export type ReadSlot = (slot: bigint) => bigint

/** Slots of one variable that are read or written. */
export const MOST_SLOTS = 65_536
/** Nesting of a variable's values. */
export const MAX_NESTING = 64

/** Throws when a variable takes more slots than are read or written, or nests more deeply. */
export function requireWithin(slots: bigint, depth: number): void {
  if (slots > BigInt(MOST_SLOTS))
    throw new VariableError(`it takes ${slots} slots, and there is room for ${MOST_SLOTS}`)
  if (depth > MAX_NESTING) throw new VariableError(`it nests more than ${MAX_NESTING} deep`)
}

/** Bytes from a word: `size` of them, `offset` from its low end. */
export function bytesIn(word: bigint, offset: number, size: number): bigint {
  return BigInt.asUintN(size * 8, word >> BigInt(offset * 8))
}

/** The length of a `string` or `bytes` by its first word, and whether its content stands elsewhere. */
export function bytesLength(head: bigint): { readonly length: bigint; readonly isLong: boolean } {
  const isLong = (head & 1n) === 1n
  return { length: isLong ? head >> 1n : (head & 0xffn) >> 1n, isLong }
}

class VariableReader {
  readonly #layout: StorageLayout
  readonly #read: ReadSlot
  #slots = 0n

  constructor(layout: StorageLayout, read: ReadSlot) {
    this.#layout = layout
    this.#read = read
  }

  value({ slot, offset, type }: StoragePlace, depth = 0): VariableValue {
    if (type.kind === 'mapping') throw new VariableError('a mapping has no value without a key')
    if (type.kind === 'array') return this.#elements(type, slot, depth)
    if (type.kind === 'struct') {
      const members = type.members.map(
        (member) => [member.name, memberPlace(this.#layout, slot, member)] as const,
      )
      const values = members.filter(([, place]) => place.type.kind !== 'mapping')
      return Object.fromEntries(values.map(([name, place]) => [name, this.value(place, depth + 1)]))
    }
    this.#count(1n, depth)
    const word = this.#read(slot)
    return 'size' in type
      ? decodeValue(type, bytesIn(word, offset, type.size))
      : this.#bytes(type, slot, word)
  }

  #count(slots: bigint, depth: number): void {
    this.#slots += slots
    requireWithin(this.#slots, depth)
  }

  #bytes(type: BytesType, slot: bigint, head: bigint): string {
    const { length, isLong } = bytesLength(head)
    if (!isLong) return decodeBytes(type, fromBigIntFixed(head, 32).subarray(0, Math.min(Number(length), 31)))
    const slots = (length + 31n) / 32n
    this.#count(slots, 0)
    const content = new Uint8Array(Number(slots) * 32)
    const first = contentSlot(slot)
    for (let i = 0n; i < slots; i++) {
      content.set(fromBigIntFixed(this.#read(BigInt.asUintN(256, first + i)), 32), Number(i) * 32)
    }
    return decodeBytes(type, content.subarray(0, Number(length)))
  }

  #elements(type: ArrayType, slot: bigint, depth: number): VariableValue[] {
    const length = type.length ?? this.#read(slot)
    // Every element counts, since several of one slot are as many values.
    requireWithin(this.#slots + length, depth)
    return Array.from({ length: Number(length) }, (_, i) =>
      this.value(elementPlace(this.#layout, type, slot, BigInt(i)), depth + 1),
    )
  }
}

/**
 * The value of a place: structs without their mappings, integers as bigints, bytes and addresses in hex. Throws an Error
 * for a mapping, and for more than 65,536 slots.
 */
export function readPlace(layout: StorageLayout, place: StoragePlace, read: ReadSlot): VariableValue {
  return new VariableReader(layout, read).value(place)
}

/** The value of a path. Throws a `VariableError` that begins with the path. */
export function readVariable(layout: StorageLayout, path: string, read: ReadSlot): VariableValue {
  const place = placeOf(layout, path)
  return within(path, () => readPlace(layout, place, read))
}
