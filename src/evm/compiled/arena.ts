/** The linear memory in which the frames of one message are while compiled code runs in them, one behind the other. */
import type { Hex } from '../../encoding/hex.ts'
import type { WasmInstance, WasmModule } from '../../wasm/web-assembly.ts'
import type { Frame } from '../frame.ts'
import { bytesOf, type FrameData, MemoryRange } from '../memory-range.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import type { AddressWords } from './address-words.ts'
import { ArenaRegion } from './arena-region.ts'
import type { CallRunner } from './call-opcode.ts'
import { HostFunctions, type RegionFunction } from './host-functions.ts'
import {
  ADDRESS_AT,
  CALLER_AT,
  FRAMES_AT,
  INPUT_ADDRESS_AT,
  INPUT_LENGTH_AT,
  MEMORY_AT,
  ROOM_AT,
  STACK_AT,
  STACK_END_AT,
  STATIC_AT,
  VALUE_AT,
} from './layout.ts'
import { LinearMemory, PAGE } from './linear-memory.ts'
import type { PathCounter } from './paths.ts'

/** Bytes of an arena at first. */
const SMALL = 24 * PAGE
/** Bytes that an arena grows by at once, and that it may have: addresses are signed numbers of 32 bits. */
const STEP = 1024 * PAGE
const LARGEST = 2 ** 31 - PAGE

/** Bytes of memory that a frame has room for at first. */
const LEAST_MEMORY = 1024

/** A linear memory, with the frames in it. */
export class Arena {
  readonly linear = new LinearMemory(SMALL)
  readonly addresses: AddressWords
  readonly #host: HostFunctions
  /** The regions of the frames, of which so many are in use. */
  readonly #regions: ArenaRegion[] = []
  #count = 0

  constructor(addresses: AddressWords, paths: PathCounter | undefined) {
    this.addresses = addresses
    this.#host = new HostFunctions(this.linear, paths)
  }

  /** Its size in bytes. */
  get size(): number {
    return this.linear.size
  }

  /** A message begins. */
  begin(table: OpcodeTable, execution: CallRunner): void {
    this.#host.begin(table, execution)
  }

  /** Readies it for another message; false when the one before did not end. */
  reset(): boolean {
    this.#host.reset()
    this.#regions.length = 0
    return this.#count === 0
  }

  /** The functions of a module, on this memory. */
  instance(module: WasmModule): WasmInstance['exports'] {
    return this.#host.instance(module)
  }

  /** Runs a region of compiled code in a frame. */
  run(region: ArenaRegion, code: RegionFunction): number {
    return this.#host.run(region, code)
  }

  /** Gives a frame a region, behind those of the frames that called it. */
  enter(frame: Frame): ArenaRegion {
    const caller = this.#count === 0 ? undefined : this.#regions[this.#count - 1]
    const start = caller?.end ?? FRAMES_AT
    // That of its last callee may be where the region will be.
    frame.keepReturned()
    const { callData } = frame
    const { length } = callData
    const base = (start + length + 32 + 31) & ~31
    const end = base + MEMORY_AT + Math.max(LEAST_MEMORY, frame.memoryWords * 32)
    this.#reserve(end)
    const region = this.#regionAt(frame, base, end)
    const inputAt = base - length - 32
    const { linear } = this
    const { floats, halves } = linear
    this.copyIn(callData, length, inputAt)
    for (let i = 1; i <= 4; i++) floats[(base >> 3) - i] = 0
    halves[(base + INPUT_LENGTH_AT) >> 2] = length
    halves[(base + INPUT_ADDRESS_AT) >> 2] = inputAt
    halves[(base + STATIC_AT) >> 2] = frame.isStatic ? 1 : 0
    this.#putAddress(frame.caller, base + CALLER_AT, caller)
    this.#putAddress(frame.address, base + ADDRESS_AT, caller)
    linear.write(base + VALUE_AT, frame.value)
    halves[(base + STACK_END_AT) >> 2] = base + STACK_AT
    halves[(base + ROOM_AT) >> 2] = end - base - MEMORY_AT
    const { memoryWords } = frame
    if (memoryWords > 0) linear.bytes.set(frame.memory.subarray(0, memoryWords * 32), base + MEMORY_AT)
    frame.region = region
    frame.moveMemory()
    return region
  }

  /** The region of the next frame. */
  #regionAt(frame: Frame, base: number, end: number): ArenaRegion {
    const place = this.#count++
    let region = this.#regions[place]
    if (region === undefined) {
      region = new ArenaRegion(this, frame, base, end)
      this.#regions.push(region)
    } else region.place(frame, base, end)
    return region
  }

  /** Writes an address as a word, which is often that of the frame before. */
  #putAddress(address: Hex, at: number, before: ArenaRegion | undefined): void {
    const { linear } = this
    if (before?.frame.address === address) {
      linear.copyWord(before.base + ADDRESS_AT, at)
      return
    }
    const word = this.addresses.wordOf(address)
    for (let i = 0; i < 8; i++) linear.halves[(at >> 2) + i] = word[i] as number
  }

  /** Writes the first `length` bytes of data. */
  copyIn(data: FrameData, length: number, at: number): void {
    const { linear } = this
    if (data instanceof MemoryRange && data.memory instanceof ArenaRegion) {
      linear.copyWithin(data.memory.base + MEMORY_AT + data.offset, length, at)
    } else linear.copyIn(bytesOf(data), length, at)
  }

  /** Frees the region of a frame that has ended; its memory stays as it is until another is there. */
  leave(region: ArenaRegion): void {
    if (this.#regions[--this.#count] !== region) throw new Error('a frame ends before those that it called')
    this.#host.leave(region)
  }

  /** Makes room for the memory of the last frame. */
  resize(region: ArenaRegion, bytes: number): void {
    region.frame.keepReturned()
    const room = region.end - region.base - MEMORY_AT
    region.end = region.base + MEMORY_AT + Math.max(bytes, room + Math.min(room, STEP))
    this.#reserve(region.end)
    this.linear.halves[(region.base + ROOM_AT) >> 2] = region.end - region.base - MEMORY_AT
    region.frame.moveMemory()
  }

  /** Puts the words that the frame has on top of those in the region. */
  putStack({ frame, base }: ArenaRegion): void {
    const endAt = (base + STACK_END_AT) >> 2
    let end = this.linear.halves[endAt] as number
    for (let i = 0; i < frame.sp; i++) {
      this.linear.write(end, frame.stack[i] as bigint)
      end += 32
    }
    this.linear.halves[endAt] = end
    frame.sp = 0
  }

  /** Takes all words back to the frame, which has none. */
  takeStack({ frame, base }: ArenaRegion): void {
    const endAt = (base + STACK_END_AT) >> 2
    const end = this.linear.halves[endAt] as number
    for (let at = base + STACK_AT; at < end; at += 32) frame.push(this.linear.read(at))
    this.linear.halves[endAt] = base + STACK_AT
  }

  /** Makes the linear memory large enough. */
  #reserve(end: number): void {
    const { size } = this.linear
    if (end <= size) return
    if (end > LARGEST) throw new RangeError(`the frames of a message need ${end} bytes of memory`)
    this.linear.grow(Math.max(end - size, Math.min(size, STEP, LARGEST - size)))
    for (let i = 0; i < this.#count; i++) this.#regions[i]?.frame.moveMemory()
  }
}
