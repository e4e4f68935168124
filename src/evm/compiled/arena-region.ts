/** Where a frame is in an arena. */
import type { Frame, FrameRegion } from '../frame.ts'
import type { FrameData } from '../memory-range.ts'
import type { Arena, RegionFunction } from './arena.ts'
import type { CompiledCode } from './compiled-code.ts'
import { MEMORY_AT } from './layout.ts'

/** The place of one frame in an arena. */
export class ArenaRegion implements FrameRegion {
  readonly arena: Arena
  readonly frame: Frame
  readonly base: number
  /** Where its memory ends, which only the last frame's can move. */
  end: number
  /** The number of its contract among the owners of storage cells; 0 until it has used one. */
  contract = 0
  /** The frame's compiled code, and its functions by program counter; `undefined` while nothing is compiled. */
  code: CompiledCode | undefined
  functions: readonly (RegionFunction | undefined)[] | undefined

  constructor(arena: Arena, frame: Frame, base: number, end: number) {
    this.arena = arena
    this.frame = frame
    this.base = base
    this.end = end
  }

  memory(): Uint8Array {
    return this.arena.linear.bytes.subarray(this.base + MEMORY_AT, this.end)
  }

  open(from: number, to: number): void {
    const start = this.base + MEMORY_AT
    if (start + to > this.end) this.arena.resize(this, to)
    // Other frames were there.
    this.arena.linear.bytes.fill(0, start + from, start + to)
  }

  read(offset: number, length: number): Uint8Array {
    const start = this.base + MEMORY_AT + offset
    return this.arena.linear.bytes.slice(start, start + length)
  }

  write(data: FrameData, offset: number, length: number): void {
    this.arena.copyIn(data, length, this.base + MEMORY_AT + offset)
  }
}
