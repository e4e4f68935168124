/** The slots of a frame's contract as the reference node's default tracer lists them (docs/internals/protocol.md#9-traces). */
import { cellWord } from '../../state/state-keys.ts'
import { SLOAD, SSTORE } from '../opcodes/storage.ts'
import type { ListedSlots } from './step.ts'
import type { FrameView } from './tracer.ts'

/** Slots listed at most at the start of a frame; a contract with more begins with none. */
const MOST_SLOTS = 10_000
/** Slots that take as long to collect as an opcode takes to run. */
const SLOTS_PER_TICK = 16

/** Words by slot, without zeros. */
export type SlotWords = ReadonlyMap<bigint, bigint>

/**
 * All slots at the start of the frame; what an SLOAD or SSTORE touches is added, changed or removed at the next step of
 * the frame. Writes of other frames show only where this frame touches the slot.
 */
export class KnownSlots implements ListedSlots {
  readonly values = new Map<bigint, bigint>()
  version = 0
  /** Number of slots; also counts those that are too many to be listed, until the first is touched. */
  size: number
  #touched: bigint | undefined

  constructor(frame: FrameView) {
    const cells = frame.storageCells()
    this.size = cells.size
    frame.countWork(cells.size / SLOTS_PER_TICK)
    if (cells.size > MOST_SLOTS) return
    for (const [slot, value] of cells) this.values.set(slot, cellWord(value))
  }

  /** To be called before each opcode of the frame. */
  beforeStep(frame: FrameView, opcode: number): void {
    if (this.#touched !== undefined) this.#update(frame, this.#touched)
    const touches = (opcode === SLOAD.code || opcode === SSTORE.code) && frame.sp > 0
    this.#touched = touches ? frame.stack[frame.sp - 1] : undefined
  }

  #update(frame: FrameView, slot: bigint): void {
    const { values } = this
    const word = frame.storageAt(slot)
    if ((values.get(slot) ?? 0n) !== word) {
      if (word === 0n) values.delete(slot)
      else values.set(slot, word)
      this.version++
    }
    this.size = values.size
  }
}
