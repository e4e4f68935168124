/**
 * The Bridge's storage cells, in the reference node's layout (docs/internals/protocol.md#66-bridge). Most methods change a cell
 * when they end; the reference node also writes back a list that a method only read.
 */
import { EMPTY, fromBigInt } from '../../../encoding/bytes.ts'
import { asBigInt, decodeRlp } from '../../../encoding/rlp.ts'
import { frameList, frameString } from '../../../encoding/rlp-frame.ts'
import type { PrecompileStorage } from '../precompile.ts'

/** RLP of a list without members. */
const EMPTY_LIST = frameList([])

/** RLP of an integer that is not negative. */
export function encodeInteger(value: bigint): Uint8Array {
  return frameString(fromBigInt(value))
}

/** The cells during one call: changes are kept back until `save`, so that a method that fails changes nothing. */
export class BridgeStore {
  readonly #storage: PrecompileStorage
  readonly #changed = new Map<bigint, Uint8Array>()

  constructor(storage: PrecompileStorage) {
    this.#storage = storage
  }

  /** A cell's bytes; empty where there is none. */
  read(slot: bigint): Uint8Array {
    return this.#changed.get(slot) ?? this.#storage.bytes(slot)
  }

  /** Changes a cell; no bytes remove it. */
  write(slot: bigint, bytes: Uint8Array): void {
    this.#changed.set(slot, bytes)
  }

  /** Removes a cell. */
  clear(slot: bigint): void {
    this.write(slot, EMPTY)
  }

  /** A cell that holds RLP of an integer; `undefined` where there is none. */
  readInteger(slot: bigint): bigint | undefined {
    const bytes = this.read(slot)
    return bytes.length === 0 ? undefined : asBigInt(decodeRlp(bytes), 'a cell of the Bridge')
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

  /** Writes the changes to the state. */
  save(): void {
    for (const [slot, bytes] of this.#changed) this.#storage.setBytes(slot, bytes)
    this.#changed.clear()
  }
}
