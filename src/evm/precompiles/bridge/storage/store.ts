/**
 * The Bridge's storage during one call, in the reference node's layout (docs/internals/protocol.md#66-bridge): changes are
 * kept back until the call succeeds, but for headers.
 */
import { EMPTY, fromBigInt } from '../../../../encoding/bytes.ts'
import { asBigInt, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameList, frameString } from '../../../../encoding/rlp-frame.ts'
import type { PrecompileStorage } from '../../precompile.ts'
import { decodeStrings, encodeStrings } from './strings.ts'

/** RLP of a list without members. */
const EMPTY_LIST = frameList([])

/** RLP of an integer that is not negative. */
export function encodeInteger(value: bigint): Uint8Array {
  return frameString(fromBigInt(value))
}

/** RLP of an integer; `undefined` for no bytes. */
export function decodeInteger(bytes: Uint8Array): bigint | undefined {
  return bytes.length === 0 ? undefined : asBigInt(decodeRlp(bytes), 'a cell of the Bridge')
}

/** The cells as bytes. Decoded ones are `Cell`s, which write themselves at `save`. */
export class BridgeStore {
  readonly #storage: PrecompileStorage
  readonly #changed = new Map<bigint, Uint8Array>()
  readonly #savers: (() => void)[] = []

  constructor(storage: PrecompileStorage) {
    this.#storage = storage
  }

  /** A cell's bytes, with the changes of this call; empty where there is none. */
  read(slot: bigint): Uint8Array {
    return this.#changed.get(slot) ?? this.#storage.bytes(slot)
  }

  /** A cell's bytes before this call, which some methods of the reference node look at. */
  readStored(slot: bigint): Uint8Array {
    return this.#storage.bytes(slot)
  }

  /** Changes a cell; no bytes remove it. */
  write(slot: bigint, bytes: Uint8Array): void {
    this.#changed.set(slot, bytes)
  }

  /** A cell that holds RLP of an integer; `undefined` where there is none. */
  readInteger(slot: bigint): bigint | undefined {
    return decodeInteger(this.read(slot))
  }

  writeInteger(slot: bigint, value: bigint): void {
    this.write(slot, encodeInteger(value))
  }

  /** A cell that holds an RLP list, written back when the call ends: an absent one becomes an empty list. */
  touchList(slot: bigint): Uint8Array {
    const bytes = this.read(slot)
    const list = bytes.length === 0 ? EMPTY_LIST : bytes
    this.write(slot, list)
    return list
  }

  /** Calls this before the changes are written. */
  beforeSave(saver: () => void): void {
    this.#savers.push(saver)
  }

  /** Writes the changes to the state. */
  save(): void {
    for (const saver of this.#savers) saver()
    for (const [slot, bytes] of this.#changed) this.#storage.setBytes(slot, bytes)
    this.#changed.clear()
  }
}

/** How a value stands in one cell or several. */
export interface CellFormat<T> {
  readonly slots: readonly bigint[]
  /** The value from the cells' bytes, which are empty where there is no cell. */
  decode(bytes: readonly Uint8Array[]): T
  /** The cells' bytes; `undefined` leaves a cell as it is, no bytes remove it. */
  encode(value: T): readonly (Uint8Array | undefined)[]
  /** Is a value that was read and not changed written back? The reference node does so with collections. */
  isWrittenBack(value: T): boolean
}

/** A decoded cell: read at the first use, kept for the call. */
export class Cell<T> {
  readonly #store: BridgeStore
  readonly #format: CellFormat<T>
  #loaded: { value: T } | undefined
  #isSet = false

  constructor(store: BridgeStore, format: CellFormat<T>) {
    this.#store = store
    this.#format = format
    store.beforeSave(() => this.#save())
  }

  get(): T {
    this.#loaded ??= { value: this.#format.decode(this.#format.slots.map((slot) => this.#store.read(slot))) }
    return this.#loaded.value
  }

  set(value: T): void {
    this.#loaded = { value }
    this.#isSet = true
  }

  #save(): void {
    const format = this.#format
    if (this.#loaded === undefined) return
    const { value } = this.#loaded
    if (!this.#isSet && !format.isWrittenBack(value)) return
    for (const [i, bytes] of format.encode(value).entries()) {
      if (bytes !== undefined) this.#store.write(format.slots[i] as bigint, bytes)
    }
  }
}

/** A collection in one cell, written back whenever it was read: an absent cell becomes one of no members. */
export function collection<T>(
  slot: bigint,
  decode: (list: readonly Uint8Array[]) => T,
  encode: (value: T) => readonly Uint8Array[],
): CellFormat<T> {
  return {
    slots: [slot],
    decode: ([bytes]) => decode(decodeStrings(bytes)),
    encode: (value) => [encodeStrings(encode(value))],
    isWrittenBack: () => true,
  }
}

/** One value in one cell, written when it was set; `undefined` is no cell. */
export function single<T>(
  slot: bigint,
  decode: (bytes: Uint8Array) => T,
  encode: (value: T) => Uint8Array,
): CellFormat<T | undefined> {
  return {
    slots: [slot],
    decode: ([bytes = EMPTY]) => (bytes.length === 0 ? undefined : decode(bytes)),
    encode: (value) => [value === undefined ? EMPTY : encode(value)],
    isWrittenBack: () => false,
  }
}
