/** Call data and return data that are still where a frame has them. */

/** Memory that bytes can be read from. */
interface ReadableMemory {
  read(offset: number, length: number): Uint8Array
}

/**
 * A part of a frame's memory, which does not change while the frame waits for its callee, nor after it has ended. One of
 * a `LinearArea` is used again for the next call.
 */
export class MemoryRange {
  readonly memory: ReadableMemory
  offset: number
  length: number

  constructor(memory: ReadableMemory, offset: number, length: number) {
    this.memory = memory
    this.offset = offset
    this.length = length
  }
}

/** Call data or return data: copied, or where they are. */
export type FrameData = Uint8Array | MemoryRange

/** The data as bytes; a copy where they are in memory. */
export function bytesOf(data: FrameData): Uint8Array {
  return data instanceof MemoryRange ? data.memory.read(data.offset, data.length) : data
}
