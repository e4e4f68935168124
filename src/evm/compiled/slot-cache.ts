/**
 * Storage cells that the frames of a message used last, in the linear memory of its compiled code, which reads them
 * there, and writes them there first. What it wrote is put into the state before anything else can look: when the code
 * returns, and before an SSTORE that leaves it. All entries become invalid when other code changes storage.
 */
import type { Hex } from '../../encoding/hex.ts'
import type { Overlay } from '../../state/overlay.ts'
import type { LinearMemory } from './linear-memory.ts'
import {
  ENTRY_CONTRACT_AT,
  ENTRY_SLOT_AT,
  ENTRY_TAG_AT,
  ENTRY_VALUE_AT,
  ENTRY_WRITTEN_AT,
  PLACE_AT,
  SLOT_BITS,
  SLOT_BYTES,
  SLOTS_AT,
  TAG_AT,
  TAG_CONTRACT_AT,
  WRITES_AT,
  WRITTEN_AT,
} from './protocol.ts'

/** The last period; entries of the first ones could be taken for valid after it. */
const LAST_PERIOD = 2 ** 32 - 1

/** What a frame needs of where it is. */
export interface SlotOwner {
  readonly base: number
  readonly frame: { readonly address: Hex }
  /** The number that its contract has in this message; 0 until it is known. */
  contract: number
}

/** Of one linear memory. */
export class SlotCache {
  readonly #linear: LinearMemory
  /** Entries of an earlier period are invalid. */
  #period = 1
  /** Contracts by number, less 1, and their numbers. */
  readonly #contracts: Hex[] = []
  readonly #numbers = new Map<Hex, number>()
  #state: Overlay | undefined
  /** Of the state's storage, when the entries were equal to it. */
  #version = 0

  constructor(linear: LinearMemory) {
    this.#linear = linear
  }

  /** Compiled code is about to run in a frame. */
  begin({ base, contract }: SlotOwner, state: Overlay): void {
    if (state !== this.#state || state.storageVersion !== this.#version) {
      this.#state = state
      this.#version = state.storageVersion
      this.#invalidate()
    }
    this.#linear.putU32(base + TAG_AT, this.#period)
    this.#linear.putU32(base + TAG_CONTRACT_AT, contract)
  }

  /** Puts what compiled code wrote into the state. */
  flush(): void {
    const linear = this.#linear
    const count = linear.u32(WRITES_AT)
    if (count === 0) return
    const state = this.#state as Overlay
    linear.putU32(WRITES_AT, 0)
    for (let i = 0; i < count; i++) {
      const entry = linear.u32(WRITTEN_AT + 4 * i)
      linear.putU32(entry + ENTRY_WRITTEN_AT, 0)
      const address = this.#contracts[linear.u32(entry + ENTRY_CONTRACT_AT) - 1] as Hex
      const slot = linear.read(entry + ENTRY_SLOT_AT)
      state.putStorage(address, slot, linear.read(entry + ENTRY_VALUE_AT))
    }
    this.#version = state.storageVersion
  }

  /** Keeps the value of the slot at an address of the memory, which compiled code has just looked for. */
  keep(owner: SlotOwner, slotAt: number, value: bigint): void {
    const linear = this.#linear
    if (owner.contract === 0) {
      owner.contract = this.#numberOf(owner.frame.address)
      linear.putU32(owner.base + TAG_CONTRACT_AT, owner.contract)
    }
    const entry = this.#place(owner.contract, slotAt)
    if (linear.u32(entry + ENTRY_WRITTEN_AT) === 1) this.flush()
    linear.putU32(entry + ENTRY_TAG_AT, this.#period)
    linear.putU32(entry + ENTRY_CONTRACT_AT, owner.contract)
    linear.copyWord(slotAt, entry + ENTRY_SLOT_AT)
    linear.write(entry + ENTRY_VALUE_AT, value)
  }

  /** The state has changed as the entries have. */
  follow(): void {
    this.#version = (this.#state as Overlay).storageVersion
  }

  /** A frame has failed: forgets what it wrote and is not in the state. */
  drop(): void {
    const linear = this.#linear
    const count = linear.u32(WRITES_AT)
    if (count === 0) return
    linear.putU32(WRITES_AT, 0)
    for (let i = 0; i < count; i++) {
      const entry = linear.u32(WRITTEN_AT + 4 * i)
      linear.putU32(entry + ENTRY_WRITTEN_AT, 0)
    }
    this.#invalidate()
  }

  /** The message has ended. */
  reset(): void {
    if (this.#state === undefined) return
    this.#state = undefined
    this.#contracts.length = 0
    this.#numbers.clear()
    this.#invalidate()
  }

  #numberOf(address: Hex): number {
    let number = this.#numbers.get(address)
    if (number === undefined) {
      number = this.#contracts.push(address)
      this.#numbers.set(address, number)
    }
    return number
  }

  /** The slot's own entry, or one that can be used for it. */
  #place(contract: number, slotAt: number): number {
    const linear = this.#linear
    const first = linear.u32(PLACE_AT)
    const second = first ^ SLOT_BYTES
    for (const entry of [first, second]) {
      const isValid = linear.u32(entry + ENTRY_TAG_AT) === this.#period
      const isOwn = isValid && linear.u32(entry + ENTRY_CONTRACT_AT) === contract
      if (isOwn && linear.isSame(entry + ENTRY_SLOT_AT, slotAt)) return entry
    }
    return linear.u32(first + ENTRY_TAG_AT) === this.#period ? second : first
  }

  #invalidate(): void {
    if (this.#period++ < LAST_PERIOD) return
    this.#period = 1
    this.#linear.bytes.fill(0, SLOTS_AT, SLOTS_AT + (SLOT_BYTES << SLOT_BITS))
  }
}
