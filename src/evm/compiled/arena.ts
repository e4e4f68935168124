/** The linear memory in which the frames of one message are while compiled code runs in them, one behind the other. */
import { keccak256 } from '../../encoding/hash.ts'
import { type Hex, hexToBigInt } from '../../encoding/hex.ts'
import { createMemory, instantiate, type WasmInstance, type WasmModule } from '../../encoding/web-assembly.ts'
import { RecentMap } from '../../state/recent-map.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { ticksOfBytes } from '../opcodes/memory.ts'
import { STATE_TICKS } from '../opcodes/operation.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import { ArenaRegion } from './arena-region.ts'
import { hashPair } from './hash-cache.ts'
import {
  ADDRESS_AT,
  CALLER_AT,
  GAS_AT,
  INPUT_ADDRESS_AT,
  INPUT_LENGTH_AT,
  MEMORY_AT,
  MEMORY_SIZE_AT,
  STACK_AT,
  STACK_END_AT,
  TICKS_AT,
  VALUE_AT,
} from './layout.ts'

const PAGE = 65_536
/** Bytes of an arena at first, and at most while no message uses it. */
const SMALL = 16 * PAGE
/** Bytes that an arena grows by at once, and that it may have: addresses are signed numbers of 32 bits. */
const STEP = 1024 * PAGE
const LARGEST = 2 ** 31 - PAGE
/** No region begins below: offsets from a frame's base may be that much lower. */
const FIRST = PAGE

/** Bytes of memory that a frame has room for at first. */
const LEAST_MEMORY = 1024

/** Runs a region of compiled code at a frame's base; see `EXIT`. */
export type RegionFunction = (base: number) => number

const addressWords = new RecentMap<Hex, bigint>(1024)

function addressWord(address: Hex): bigint {
  let word = addressWords.get(address)
  if (word === undefined) {
    word = hexToBigInt(address)
    addressWords.set(address, word)
  }
  return word
}

const SHA3 = 0x20

/** No more than memory may have bytes (docs/protocol.md#62-gas-schedule), halved for sums. */
const SMALL_NUMBERS = 2 ** 29

const LOW_64 = (1n << 64n) - 1n

/** A linear memory, with the frames in it. */
export class Arena {
  readonly memory = createMemory(SMALL / PAGE)
  readonly #instances = new WeakMap<WasmModule, WasmInstance['exports']>()
  readonly #frames: ArenaRegion[] = []
  /** The frame that runs. */
  #running: ArenaRegion | undefined
  #table: OpcodeTable | undefined
  #halves = new Uint32Array(this.memory.buffer)
  #lanes = new BigUint64Array(this.memory.buffer)
  #floats = new Float64Array(this.memory.buffer)
  #bytes = new Uint8Array(this.memory.buffer)

  /** May another message use it? */
  get isSmall(): boolean {
    return this.memory.buffer.byteLength <= SMALL && this.#frames.length === 0
  }

  /** The functions of a module, on this memory. */
  instance(module: WasmModule): WasmInstance['exports'] {
    let exports = this.#instances.get(module)
    if (exports === undefined) {
      const host = {
        memory: this.memory,
        run: (base: number, end: number, opcode: number) => this.#runOpcode(base, end, opcode),
        load: (_base: number, end: number) => this.#load(end),
        hash: (base: number, end: number) => this.#hash(base, end),
        expand: (base: number, end: number) => this.#expand(base, end),
      }
      exports = instantiate(module, host)
      this.#instances.set(module, exports)
    }
    return exports
  }

  /** Gives a frame a region, behind those of the frames that called it. */
  enter(frame: Frame): ArenaRegion {
    const start = this.#frames.at(-1)?.end ?? FIRST
    const { length } = frame.input
    const base = (start + length + 32 + 31) & ~31
    const end = base + MEMORY_AT + Math.max(LEAST_MEMORY, frame.memoryWords * 32)
    this.#reserve(end)
    const region = new ArenaRegion(this, frame, base)
    region.end = end
    this.#frames.push(region)
    const inputAt = base - length - 32
    this.#bytes.set(frame.input, inputAt)
    this.#bytes.fill(0, base - 32, base)
    this.#halves[(base + INPUT_LENGTH_AT) >> 2] = length
    this.#halves[(base + INPUT_ADDRESS_AT) >> 2] = inputAt
    this.write(base + CALLER_AT, addressWord(frame.caller))
    this.write(base + ADDRESS_AT, addressWord(frame.address))
    this.write(base + VALUE_AT, frame.value)
    this.#halves[(base + STACK_END_AT) >> 2] = base + STACK_AT
    this.#bytes.set(frame.memory.subarray(0, frame.memoryWords * 32), base + MEMORY_AT)
    frame.region = region
    this.#give(region)
    return region
  }

  /** Frees the region of a frame that has ended. */
  leave(region: ArenaRegion): void {
    if (this.#frames.pop() !== region) throw new Error('a frame ends before those that it called')
    if (this.#running === region) this.#running = undefined
  }

  /** Makes room for the memory of the last frame. */
  resize(region: ArenaRegion, bytes: number): void {
    const room = region.end - region.base - MEMORY_AT
    region.end = region.base + MEMORY_AT + Math.max(bytes, room + Math.min(room, STEP))
    if (!this.#reserve(region.end)) this.#give(region)
  }

  /** Runs a region of compiled code in a frame. */
  run(region: ArenaRegion, table: OpcodeTable, code: RegionFunction): number {
    const { frame, base } = region
    const { clock } = frame.session
    this.#running = region
    this.#table = table
    const ticks = Math.max(1, Math.floor(clock.ticks))
    this.#floats[(base + GAS_AT) >> 3] = frame.gas
    this.#halves[(base + TICKS_AT) >> 2] = ticks
    this.#halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    const exit = code(base)
    frame.gas = this.#floats[(base + GAS_AT) >> 3] as number
    clock.ticks -= ticks - ((this.#halves[(base + TICKS_AT) >> 2] as number) | 0)
    return exit
  }

  /** Puts the words that the frame has on top of those in the region. */
  putStack({ frame, base }: ArenaRegion): void {
    const endAt = (base + STACK_END_AT) >> 2
    let end = this.#halves[endAt] as number
    for (let i = 0; i < frame.sp; i++) {
      this.write(end, frame.stack[i] as bigint)
      end += 32
    }
    this.#halves[endAt] = end
    frame.sp = 0
  }

  /** Takes all words back to the frame, which has none. */
  takeStack({ frame, base }: ArenaRegion): void {
    const endAt = (base + STACK_END_AT) >> 2
    const end = this.#halves[endAt] as number
    for (let at = base + STACK_AT; at < end; at += 32) frame.push(this.read(at))
    this.#halves[endAt] = base + STACK_AT
  }

  read(at: number): bigint {
    const halves = this.#halves
    const half = at >> 2
    const first = at >> 3
    const lanes = this.#lanes
    const above =
      (halves[half + 2] as number) |
      (halves[half + 3] as number) |
      (halves[half + 4] as number) |
      (halves[half + 5] as number) |
      (halves[half + 6] as number) |
      (halves[half + 7] as number)
    if (above === 0) {
      return halves[half + 1] === 0 ? BigInt(halves[half] as number) : (lanes[first] as bigint)
    }
    const high = ((lanes[first + 3] as bigint) << 64n) | (lanes[first + 2] as bigint)
    return (high << 128n) | ((lanes[first + 1] as bigint) << 64n) | (lanes[first] as bigint)
  }

  write(at: number, word: bigint): void {
    const lanes = this.#lanes
    const first = at >> 3
    // An element keeps the low 64 bits.
    lanes[first] = word
    if (word <= LOW_64) {
      this.#halves.fill(0, (at >> 2) + 2, (at >> 2) + 8)
      return
    }
    lanes[first + 1] = word >> 64n
    lanes[first + 2] = word >> 128n
    lanes[first + 3] = word >> 192n
  }

  /** An opcode from the table, on the operands below `end`; not 0 when the frame does not go on. */
  #runOpcode(base: number, end: number, opcode: number): number {
    const { frame } = this.#current()
    const { needs, run } = this.#table as OpcodeTable
    const count = needs[opcode] as number
    const bottom = end - 32 * count
    const { stack } = frame
    for (let i = 0; i < count; i++) stack[i] = this.read(bottom + 32 * i)
    frame.sp = count
    frame.gas = this.#floats[(base + GAS_AT) >> 3] as number
    ;(run[opcode] as (frame: Frame) => void)(frame)
    this.#floats[(base + GAS_AT) >> 3] = frame.gas
    this.#halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    if (frame.sp > 0) {
      this.write(bottom, stack[0] as bigint)
      frame.sp = 0
    }
    return frame.status === 'running' ? 0 : 1
  }

  /** SLOAD, which many loops consist of, without the table. */
  #load(end: number): number {
    const { frame } = this.#current()
    const slot = this.read(end - 32)
    this.write(end - 32, frame.session.journal.state.storage(frame.address, slot))
    frame.spend(STATE_TICKS)
    return frame.status === 'running' ? 0 : 1
  }

  /** SHA3 of a stretch of memory that can be paid; any other from the table. */
  #hash(base: number, end: number): number {
    const { frame } = this.#current()
    const offset = this.#small(end - 32)
    const length = this.#small(end - 64)
    if (offset < 0 || length <= 0) return this.#runOpcode(base, end, SHA3)
    const gasAt = (base + GAS_AT) >> 3
    const gas = this.#floats[gasAt] as number
    const cost = GAS.keccak256Word * Math.ceil(length / 32) + frame.costTo(offset + length)
    if (cost > gas) return this.#runOpcode(base, end, SHA3)
    this.#floats[gasAt] = gas - cost
    frame.grow(offset + length)
    this.#halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    const start = base + MEMORY_AT + offset
    const to = end - 64
    if (length === 64 && (start & 3) === 0) {
      hashPair(this.#halves, this.#bytes, start >> 2, to >> 2)
      return 0
    }
    const digest = keccak256(this.#bytes.subarray(start, start + length))
    for (let i = 0; i < 32; i++) this.#bytes[to + i] = digest[31 - i] as number
    frame.spend(ticksOfBytes(length))
    return frame.status === 'running' ? 0 : 1
  }

  /** The word at an address when it is a small number; else -1. */
  #small(at: number): number {
    const halves = this.#halves
    const half = at >> 2
    let above = 0
    for (let i = 1; i < 8; i++) above |= halves[half + i] as number
    const low = halves[half] as number
    return above === 0 && low < SMALL_NUMBERS ? low : -1
  }

  /** Opens memory up to `end`; 0 when the gas does not suffice. */
  #expand(base: number, end: number): number {
    const { frame } = this.#current()
    const gasAt = (base + GAS_AT) >> 3
    const gas = this.#floats[gasAt] as number
    const cost = frame.costTo(end)
    if (cost > gas) return 0
    this.#floats[gasAt] = gas - cost
    frame.grow(end)
    this.#halves[(base + MEMORY_SIZE_AT) >> 2] = frame.memoryWords * 32
    return 1
  }

  #current(): ArenaRegion {
    if (this.#running === undefined) throw new Error('compiled code runs outside a frame')
    return this.#running
  }

  /** Makes the memory large enough; true when it had to be grown, and all frames have theirs anew. */
  #reserve(end: number): boolean {
    const { byteLength } = this.memory.buffer
    if (end <= byteLength) return false
    if (end > LARGEST) throw new RangeError(`the frames of a message need ${end} bytes of memory`)
    const more = Math.max(end - byteLength, Math.min(byteLength, STEP, LARGEST - byteLength))
    this.memory.grow(Math.ceil(more / PAGE))
    const { buffer } = this.memory
    this.#halves = new Uint32Array(buffer)
    this.#lanes = new BigUint64Array(buffer)
    this.#floats = new Float64Array(buffer)
    this.#bytes = new Uint8Array(buffer)
    for (const region of this.#frames) this.#give(region)
    return true
  }

  #give({ frame, base, end }: ArenaRegion): void {
    frame.useMemory(this.#bytes.subarray(base + MEMORY_AT, end))
  }
}
