/** Call data that are still where the calling frame has them. */

/** Memory that bytes can be read from. */
interface ReadableMemory {
  read(offset: number, length: number): Uint8Array
}

/** A part of a frame's memory, which does not change while the frame waits for its callee. */
export class MemoryRange {
  readonly memory: ReadableMemory
  readonly offset: number
  readonly length: number

  constructor(memory: ReadableMemory, offset: number, length: number) {
    this.memory = memory
    this.offset = offset
    this.length = length
  }
}

/** Call data: copied, or where they are. */
export type CallData = Uint8Array | MemoryRange

/** Call data as bytes; a copy where they are in memory. */
export function bytesOf(data: CallData): Uint8Array {
  return data instanceof MemoryRange ? data.memory.read(data.offset, data.length) : data
}
