/** The linear memory in which the frames of one message are while compiled code runs in them, one behind the other. */
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { keccakOn } from '../../encoding/keccak-module.ts'
import { instantiate, type WasmInstance, type WasmModule } from '../../encoding/web-assembly.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { bytesOf, type FrameData, MemoryRange } from '../memory-range.ts'
import { ticksOfBytes } from '../opcodes/memory.ts'
import { STATE_TICKS } from '../opcodes/operation.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import { addressWord } from './address-word.ts'
import { ArenaRegion } from './arena-region.ts'
import { type CallRunner, PlainCall, PRESENT_CALLS } from './call-opcode.ts'
import {
  ADDRESS_AT,
  CALLER_AT,
  DIGEST_AT,
  FRAMES_AT,
  GAS_AT,
  INPUT_ADDRESS_AT,
  INPUT_LENGTH_AT,
  MEMORY_AT,
  MEMORY_SIZE_AT,
  RETURNED_AT,
  ROOM_AT,
  STACK_AT,
  STACK_END_AT,
  STATIC_AT,
  TICKS_AT,
  VALUE_AT,
} from './layout.ts'
import { LinearMemory, PAGE } from './linear-memory.ts'
import { SlotCache } from './slot-cache.ts'

/** Bytes of an arena at first. */
const SMALL = 24 * PAGE
/** Bytes that an arena grows by at once, and that it may have: addresses are signed numbers of 32 bits. */
const STEP = 1024 * PAGE
const LARGEST = 2 ** 31 - PAGE

/** Bytes of memory that a frame has room for at first. */
const LEAST_MEMORY = 1024

/** Runs a region of compiled code at a frame's base; see `EXIT`. */
export type RegionFunction = (base: number) => number

const STOP = 0x00
const SHA3 = 0x20
const SSTORE = 0x55
const REVERT = 0xfd

/** A linear memory, with the frames in it. */
export class Arena {
  readonly linear = new LinearMemory(SMALL)
  readonly #keccak = keccakOn(this.linear.memory)
  readonly #slots = new SlotCache(this.linear)
  readonly #instances = new WeakMap<WasmModule, WasmInstance['exports']>()
  /** The regions of the frames, of which so many are in use. */
  readonly #regions: ArenaRegion[] = []
  #count = 0
  /** The frame that runs. */
  #running: ArenaRegion | undefined
  #table: OpcodeTable | undefined
  #execution: CallRunner | undefined
  readonly #plain = new PlainCall()

  /** Its size in bytes. */
  get size(): number {
    return this.linear.size
  }

  /** A message begins. */
  begin(table: OpcodeTable, execution: CallRunner): void {
    this.#table = table
    this.#execution = execution
  }

  /** Readies it for another message; false when the one before did not end. */
  reset(): boolean {
    this.#slots.reset()
    this.#regions.length = 0
    this.#running = undefined
    this.#execution = undefined
    this.#plain.input = EMPTY
    return this.#count === 0
  }

  /** The functions of a module, on this memory. */
  instance(module: WasmModule): WasmInstance['exports'] {
    let exports = this.#instances.get(module)
    if (exports === undefined) {
      const host = {
        memory: this.linear.memory,
        keccak: this.#keccak,
        run: (base: number, end: number, opcode: number) => this.#runOpcode(base, end, opcode),
        load: (_base: number, end: number) => this.#load(end),
        store: (base: number, end: number) => this.#store(base, end),
        hash: (base: number, end: number) => this.#hash(base, end),
        call: (base: number, end: number, opcode: number) => this.#call(base, end, opcode),
        finish: (base: number, end: number, opcode: number) => this.#finish(base, end, opcode),
        expand: (base: number, end: number) => this.#expand(base, end),
      }
      exports = instantiate(module, host)
      this.#instances.set(module, exports)
    }
    return exports
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
    const word = addressWord(address)
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
    if (this.#running === region) this.#running = undefined
    this.#slots.drop()
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

  /** Runs a region of compiled code in a frame. */
  run(region: ArenaRegion, code: RegionFunction): number {
    const { frame, base } = region
    this.#resume(region)
    this.linear.halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    const exit = code(base)
    this.#suspend(region)
    const { linear } = this
    frame.gas = linear.floats[(base + GAS_AT) >> 3] as number
    frame.memoryWords = (linear.halves[(base + MEMORY_SIZE_AT) >> 2] as number) >> 5
    return exit
  }

  /** Compiled code is about to run in a frame. */
  #resume(region: ArenaRegion): void {
    const { frame, base } = region
    const { clock, journal } = frame.session
    const { linear } = this
    this.#running = region
    const ticks = Math.max(1, Math.floor(clock.ticks))
    region.ticks = ticks
    linear.halves[(base + TICKS_AT) >> 2] = ticks
    linear.floats[(base + GAS_AT) >> 3] = frame.gas
    linear.halves[(base + RETURNED_AT) >> 2] = frame.returnedLength
    this.#slots.begin(region, journal.state)
  }

  /** Others may look at the state and at the clock. */
  #suspend(region: ArenaRegion): void {
    this.#slots.flush()
    const left = (this.linear.halves[(region.base + TICKS_AT) >> 2] as number) | 0
    region.frame.session.clock.ticks -= region.ticks - left
    region.ticks = left
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

  /** An opcode from the table, on the operands below `end`; not 0 when the frame does not go on. */
  #runOpcode(base: number, end: number, opcode: number): number {
    const { frame } = this.#current()
    const linear = this.linear
    const { needs, run } = this.#table as OpcodeTable
    const count = needs[opcode] as number
    const bottom = end - 32 * count
    const { stack } = frame
    for (let i = 0; i < count; i++) stack[i] = linear.read(bottom + 32 * i)
    frame.sp = count
    frame.gas = linear.floats[(base + GAS_AT) >> 3] as number
    ;(run[opcode] as (frame: Frame) => void)(frame)
    linear.floats[(base + GAS_AT) >> 3] = frame.gas
    linear.halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    if (frame.sp > 0) {
      linear.write(bottom, stack[0] as bigint)
      frame.sp = 0
    }
    return frame.status === 'running' ? 0 : 1
  }

  /** SLOAD of a cell that was not used lately. */
  #load(end: number): number {
    const region = this.#current()
    const { frame } = region
    const value = frame.session.journal.state.storage(frame.address, this.linear.read(end - 32))
    this.#slots.keep(region, end - 32, value)
    this.linear.write(end - 32, value)
    frame.spend(STATE_TICKS)
    return frame.status === 'running' ? 0 : 1
  }

  /** SSTORE that compiled code cannot do by itself. */
  #store(base: number, end: number): number {
    this.#slots.flush()
    const status = this.#runOpcode(base, end, SSTORE)
    this.#slots.follow()
    this.#slots.keep(this.#current(), end - 32, this.linear.read(end - 64))
    return status
  }

  /** SHA3 that compiled code cannot do by itself: it opens memory, is long, or cannot be paid. */
  #hash(base: number, end: number): number {
    const { frame } = this.#current()
    const linear = this.linear
    const offset = linear.small(end - 32)
    const length = linear.small(end - 64)
    if (offset < 0 || length <= 0) return this.#runOpcode(base, end, SHA3)
    const gasAt = (base + GAS_AT) >> 3
    const gas = linear.floats[gasAt] as number
    const cost = GAS.keccak256Word * Math.ceil(length / 32) + frame.costTo(offset + length)
    if (cost > gas) return this.#runOpcode(base, end, SHA3)
    linear.floats[gasAt] = gas - cost
    frame.grow(offset + length)
    linear.halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    this.#keccak(base + MEMORY_AT + offset, length, DIGEST_AT)
    const { bytes } = linear
    for (let i = 0; i < 32; i++) bytes[end - 64 + i] = bytes[DIGEST_AT + 31 - i] as number
    frame.spend(ticksOfBytes(length))
    return frame.status === 'running' ? 0 : 1
  }

  /**
   * A call whose operands are small, by small steps; any other from the table. Code goes on here when the callee could
   * run to its end.
   */
  #call(base: number, end: number, opcode: number): number {
    const region = this.#current()
    const { frame } = region
    const { linear } = this
    const gasAt = (base + GAS_AT) >> 3
    frame.gas = linear.floats[gasAt] as number
    const { needs, run } = this.#table as OpcodeTable
    const isPlain = run[opcode] === PRESENT_CALLS.get(opcode)
    const call = this.#plain
    if (isPlain && call.read(linear, end, opcode, region)) {
      linear.floats[gasAt] = frame.gas
      linear.halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    } else {
      this.#runOpcode(base, end, opcode)
      if (!call.take(region)) return 1
    }
    this.#suspend(region)
    const result = (this.#execution as CallRunner).call(frame, call)
    if (result < 0) return 1
    this.#resume(region)
    const at = end - 32 * (needs[opcode] as number)
    this.linear.write(at, result === 0 ? 0n : 1n)
    return 0
  }

  /** STOP, RETURN and REVERT. */
  #finish(base: number, end: number, opcode: number): number {
    const region = this.#current()
    const { frame } = region
    if (opcode === STOP) {
      frame.stop(EMPTY)
      return 1
    }
    const { linear } = this
    const gasAt = (base + GAS_AT) >> 3
    const offset = linear.small(end - 32)
    const length = linear.small(end - 64)
    if (offset < 0 || length < 0) return this.#runOpcode(base, end, opcode)
    const gas = linear.floats[gasAt] as number
    const last = length === 0 ? 0 : offset + length
    const cost = frame.costTo(last)
    if (cost > gas) return this.#runOpcode(base, end, opcode)
    linear.floats[gasAt] = gas - cost
    frame.grow(last)
    // The arena does not outlive the message.
    const stays = length > 0 && frame.depth > 0
    frame.stop(stays ? region.output(offset, length) : frame.read(offset, length))
    frame.reverted = opcode === REVERT
    return 1
  }

  /** Opens memory up to `end`; 0 when the gas does not suffice. */
  #expand(base: number, end: number): number {
    const { frame } = this.#current()
    const linear = this.linear
    const gasAt = (base + GAS_AT) >> 3
    const gas = linear.floats[gasAt] as number
    const cost = frame.costTo(end)
    if (cost > gas) return 0
    linear.floats[gasAt] = gas - cost
    frame.grow(end)
    linear.halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    return 1
  }

  /** The frame that runs, with the memory that compiled code has opened. */
  #current(): ArenaRegion {
    const region = this.#running
    if (region === undefined) throw new Error('compiled code runs outside a frame')
    region.frame.memoryWords = (this.linear.halves[(region.base + MEMORY_SIZE_AT) >> 2] as number) >> 5
    return region
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
