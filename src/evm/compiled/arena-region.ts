/** Where a frame is in an arena. */
import type { Frame, FrameRegion } from '../frame.ts'
import type { Arena } from './arena.ts'
import { MEMORY_AT } from './layout.ts'

/** The place of one frame in an arena. */
export class ArenaRegion implements FrameRegion {
  readonly arena: Arena
  readonly frame: Frame
  readonly base: number
  /** Where its memory ends, which only the last frame's can move. */
  end: number

  constructor(arena: Arena, frame: Frame, base: number) {
    this.arena = arena
    this.frame = frame
    this.base = base
    this.end = base + MEMORY_AT
  }

  resize(bytes: number): void {
    this.arena.resize(this, bytes)
  }
}
