/** Where a frame is in an allocator. */
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Frame, FrameArea } from '../frame.ts'
import { type FrameData, MemoryRange } from '../memory-range.ts'
import type { AddressWords } from './address-words.ts'
import type { CompiledCode } from './compiled-code.ts'
import type { LinearMemory } from './linear-memory.ts'
import { MEMORY_AT, type RegionFunction } from './protocol.ts'

/** What places frames in a linear memory. */
export interface AreaOwner {
  readonly linear: LinearMemory
  readonly addresses: AddressWords
  /** Makes room for so many bytes of memory of the last frame. */
  resize(area: LinearArea, bytes: number): void
  /** Writes the first `length` bytes of data. */
  copyIn(data: FrameData, length: number, at: number): void
}

function ranged(range: MemoryRange, offset: number, length: number): MemoryRange {
  range.offset = offset
  range.length = length
  return range
}

/** The place of a frame in an allocator, and after that of another one that has as many frames before it. */
export class LinearArea implements FrameArea {
  readonly owner: AreaOwner
  frame: Frame
  base: number
  /** Where its memory ends, which only the last frame's can move. */
  end: number
  /** What the clock had when compiled code began to count down, or went on after a call. */
  ticks = 0
  /** The number of its contract among the owners of storage cells; 0 until it has used one. */
  contract = 0
  /** The frame's compiled code, and its functions by program counter; `undefined` while nothing is compiled. */
  code: CompiledCode | undefined
  functions: readonly (RegionFunction | undefined)[] | undefined

  /** The contract that was called last from here, its code, and of which version of the accounts that is. */
  target: Hex | undefined
  targetCode: Uint8Array = EMPTY
  targetVersion = 0

  /** The call data of the frame's callee, and what the frame returns. */
  readonly #callData = new MemoryRange(this, 0, 0)
  readonly #output = new MemoryRange(this, 0, 0)

  constructor(owner: AreaOwner, frame: Frame, base: number, end: number) {
    this.owner = owner
    this.frame = frame
    this.base = base
    this.end = end
  }

  /** Another frame is here. */
  place(frame: Frame, base: number, end: number): void {
    this.frame = frame
    this.base = base
    this.end = end
    this.contract = 0
    this.code = undefined
    this.functions = undefined
  }

  /** Part of the frame's memory as the call data of its callee, until it calls again. */
  callData(offset: number, length: number): FrameData {
    return length === 0 ? EMPTY : ranged(this.#callData, offset, length)
  }

  /** Part of the frame's memory as what it returns. */
  output(offset: number, length: number): FrameData {
    return ranged(this.#output, offset, length)
  }

  memory(): Uint8Array {
    return this.owner.linear.bytes.subarray(this.base + MEMORY_AT, this.end)
  }

  open(from: number, to: number): void {
    const start = this.base + MEMORY_AT
    if (start + to > this.end) this.owner.resize(this, to)
    // Other frames were there.
    this.owner.linear.bytes.fill(0, start + from, start + to)
  }

  read(offset: number, length: number): Uint8Array {
    const start = this.base + MEMORY_AT + offset
    return this.owner.linear.bytes.slice(start, start + length)
  }

  write(data: FrameData, offset: number, length: number): void {
    this.owner.copyIn(data, length, this.base + MEMORY_AT + offset)
  }
}
