/** Places the frames of one message, while compiled code runs in them, one behind the other in a linear memory. */
import type { Hex } from '../../encoding/hex.ts'
import { PAGE, type WasmInstance, type WasmModule } from '../../wasm/web-assembly.ts'
import type { Frame } from '../frame.ts'
import { bytesOf, type FrameData, MemoryRange } from '../memory-range.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'
import type { AddressWords } from './address-words.ts'
import type { CallRunner } from './call-opcode.ts'
import type { ModuleHost } from './compiled-code.ts'
import { HostFunctions } from './host-functions.ts'
import { type AreaOwner, LinearArea } from './linear-area.ts'
import { LinearMemory } from './linear-memory.ts'
import type { PathCounter } from './paths.ts'
import {
  ADDRESS_AT,
  CALLER_AT,
  FRAMES_AT,
  INPUT_ADDRESS_AT,
  INPUT_LENGTH_AT,
  MEMORY_AT,
  type RegionFunction,
  ROOM_AT,
  STACK_AT,
  STACK_END_AT,
  STATIC_AT,
  VALUE_AT,
} from './protocol.ts'

/** Bytes of the memory at first. */
const SMALL = 24 * PAGE
/** Bytes that it grows by at once, and that it may have: addresses are signed numbers of 32 bits. */
const STEP = 1024 * PAGE
const LARGEST = 2 ** 31 - PAGE

/** Bytes of memory that a frame has room for at first. */
const LEAST_MEMORY = 1024

/** A linear memory with the areas of frames in it, and the compiled code that runs on it. */
export class LinearAllocator implements AreaOwner, ModuleHost {
  readonly linear = new LinearMemory(SMALL)
  readonly addresses: AddressWords
  readonly #host: HostFunctions
  /** The areas of the frames, of which so many are in use. */
  readonly #areas: LinearArea[] = []
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
    this.#areas.length = 0
    return this.#count === 0
  }

  /** The functions of a module, on this memory. */
  instance(module: WasmModule): WasmInstance['exports'] {
    return this.#host.instance(module)
  }

  /** Runs a region of compiled code in a frame. */
  run(area: LinearArea, code: RegionFunction): number {
    return this.#host.run(area, code)
  }

  /** Gives a frame an area, behind those of the frames that called it. */
  enter(frame: Frame): LinearArea {
    const caller = this.#count === 0 ? undefined : this.#areas[this.#count - 1]
    const start = caller?.end ?? FRAMES_AT
    // That of its last callee may be where the area will be.
    frame.keepReturned()
    const { callData } = frame
    const { length } = callData
    const base = (start + length + 32 + 31) & ~31
    const end = base + MEMORY_AT + Math.max(LEAST_MEMORY, frame.memoryWords * 32)
    this.#reserve(end)
    const area = this.#areaAt(frame, base, end)
    const inputAt = base - length - 32
    const { linear } = this
    const { floats } = linear
    this.copyIn(callData, length, inputAt)
    for (let i = 1; i <= 4; i++) floats[(base >> 3) - i] = 0
    linear.putU32(base + INPUT_LENGTH_AT, length)
    linear.putU32(base + INPUT_ADDRESS_AT, inputAt)
    linear.putU32(base + STATIC_AT, frame.isStatic ? 1 : 0)
    this.#putAddress(frame.caller, base + CALLER_AT, caller)
    this.#putAddress(frame.address, base + ADDRESS_AT, caller)
    linear.write(base + VALUE_AT, frame.value)
    linear.putU32(base + STACK_END_AT, base + STACK_AT)
    linear.putU32(base + ROOM_AT, end - base - MEMORY_AT)
    const { memoryWords } = frame
    if (memoryWords > 0) linear.bytes.set(frame.memory.subarray(0, memoryWords * 32), base + MEMORY_AT)
    frame.area = area
    frame.moveMemory()
    return area
  }

  /** The area of the next frame. */
  #areaAt(frame: Frame, base: number, end: number): LinearArea {
    const place = this.#count++
    let area = this.#areas[place]
    if (area === undefined) {
      area = new LinearArea(this, frame, base, end)
      this.#areas.push(area)
    } else area.place(frame, base, end)
    return area
  }

  /** Writes an address as a word, which is often that of the frame before. */
  #putAddress(address: Hex, at: number, before: LinearArea | undefined): void {
    const { linear } = this
    if (before?.frame.address === address) {
      linear.copyWord(before.base + ADDRESS_AT, at)
      return
    }
    const word = this.addresses.wordOf(address)
    for (let i = 0; i < 8; i++) linear.halves[(at >> 2) + i] = word[i] ?? 0
  }

  /** Writes the first `length` bytes of data. */
  copyIn(data: FrameData, length: number, at: number): void {
    const { linear } = this
    if (data instanceof MemoryRange && data.memory instanceof LinearArea) {
      linear.copyWithin(data.memory.base + MEMORY_AT + data.offset, length, at)
    } else linear.copyIn(bytesOf(data), length, at)
  }

  /** Frees the area of a frame that has ended; its memory stays as it is until another is there. */
  leave(area: LinearArea): void {
    if (this.#areas[--this.#count] !== area) throw new Error('a frame ends before those that it called')
    this.#host.leave(area)
  }

  /** Makes room for the memory of the last frame. */
  resize(area: LinearArea, bytes: number): void {
    area.frame.keepReturned()
    const room = area.end - area.base - MEMORY_AT
    area.end = area.base + MEMORY_AT + Math.max(bytes, room + Math.min(room, STEP))
    this.#reserve(area.end)
    this.linear.putU32(area.base + ROOM_AT, area.end - area.base - MEMORY_AT)
    area.frame.moveMemory()
  }

  /** Puts the words that the frame has on top of those in the area. */
  putStack({ frame, base }: LinearArea): void {
    let end = this.linear.u32(base + STACK_END_AT)
    for (let i = 0; i < frame.sp; i++) {
      this.linear.write(end, frame.stack[i] as bigint)
      end += 32
    }
    this.linear.putU32(base + STACK_END_AT, end)
    frame.sp = 0
  }

  /** Takes all words back to the frame, which has none. */
  takeStack({ frame, base }: LinearArea): void {
    const end = this.linear.u32(base + STACK_END_AT)
    for (let at = base + STACK_AT; at < end; at += 32) frame.push(this.linear.read(at))
    this.linear.putU32(base + STACK_END_AT, base + STACK_AT)
  }

  /** Makes the linear memory large enough. */
  #reserve(end: number): void {
    const { size } = this.linear
    if (end <= size) return
    if (end > LARGEST) throw new RangeError(`the frames of a message need ${end} bytes of memory`)
    this.linear.grow(Math.max(end - size, Math.min(size, STEP, LARGEST - size)))
    for (let i = 0; i < this.#count; i++) this.#areas[i]?.frame.moveMemory()
  }
}
