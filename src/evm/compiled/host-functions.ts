/** What compiled code calls: the opcodes that it does not do by itself, on the frame that runs. */
import { EMPTY } from '../../encoding/bytes.ts'
import { keccakOn } from '../../wasm/keccak.ts'
import { instantiate, type WasmInstance, type WasmModule } from '../../wasm/web-assembly.ts'
import { GAS } from '../gas-schedule.ts'
import { REVERT } from '../opcodes/control.ts'
import { spendHash } from '../opcodes/memory.ts'
import { type OpcodeTable, type Operation, STATE_TICKS } from '../opcodes/operation.ts'
import { type CallRunner, PlainCall } from './call-opcode.ts'
import type { LinearArea } from './linear-area.ts'
import type { LinearMemory } from './linear-memory.ts'
import type { PathCounter } from './paths.ts'
import {
  DIGEST_AT,
  GAS_AT,
  type HostImports,
  MEMORY_AT,
  MEMORY_SIZE_AT,
  RETURNED_AT,
  type RegionFunction,
  TICKS_AT,
} from './protocol.ts'
import { SlotCache } from './slot-cache.ts'

/** Compiled code on a linear memory, with the functions that it calls. */
export class HostFunctions {
  readonly #linear: LinearMemory
  readonly #keccak: ReturnType<typeof keccakOn>
  readonly #slots: SlotCache
  readonly #paths: PathCounter | undefined
  readonly #instances = new WeakMap<WasmModule, WasmInstance['exports']>()
  /** The frame that runs. */
  #running: LinearArea | undefined
  #table: OpcodeTable | undefined
  #execution: CallRunner | undefined
  readonly #plain = new PlainCall()

  constructor(linear: LinearMemory, paths: PathCounter | undefined) {
    this.#linear = linear
    this.#paths = paths
    this.#keccak = keccakOn(linear.memory)
    this.#slots = new SlotCache(linear)
  }

  /** A message begins. */
  begin(table: OpcodeTable, execution: CallRunner): void {
    this.#table = table
    this.#execution = execution
  }

  /** Readies it for another message. */
  reset(): void {
    this.#slots.reset()
    this.#running = undefined
    this.#execution = undefined
    this.#plain.input = EMPTY
  }

  /** A frame ends. */
  leave(area: LinearArea): void {
    if (this.#running === area) this.#running = undefined
    this.#slots.drop()
  }

  /** The functions of a module, on this memory. */
  instance(module: WasmModule): WasmInstance['exports'] {
    let exports = this.#instances.get(module)
    if (exports === undefined) {
      const host: HostImports = {
        keccak: this.#keccak,
        run: (base, end, opcode) => this.#runOpcode(base, end, opcode),
        load: (_base, end) => this.#load(end),
        store: (base, end, opcode) => this.#store(base, end, opcode),
        hash: (base, end, opcode) => this.#hash(base, end, opcode),
        call: (base, end, opcode) => this.#call(base, end, opcode),
        finish: (base, end, opcode) => this.#finish(base, end, opcode),
        expand: (base, end) => this.#expand(base, end),
        path: (id) => this.#paths?.take(id),
      }
      exports = instantiate(module, { ...host, memory: this.#linear.memory })
      this.#instances.set(module, exports)
    }
    return exports
  }

  /** Runs a region of compiled code in a frame. */
  run(area: LinearArea, code: RegionFunction): number {
    const { frame, base } = area
    this.#resume(area)
    this.#linear.putU32(base + MEMORY_SIZE_AT, frame.memoryWords * 32)
    const exit = code(base)
    this.#suspend(area)
    const linear = this.#linear
    frame.gas = linear.f64(base + GAS_AT)
    frame.memoryWords = linear.u32(base + MEMORY_SIZE_AT) >> 5
    return exit
  }

  /** Compiled code is about to run in a frame. */
  #resume(area: LinearArea): void {
    const { frame, base } = area
    const { clock, journal } = frame.session
    const linear = this.#linear
    this.#running = area
    const ticks = Math.max(1, Math.floor(clock.ticks))
    area.ticks = ticks
    linear.putU32(base + TICKS_AT, ticks)
    linear.putF64(base + GAS_AT, frame.gas)
    linear.putU32(base + RETURNED_AT, frame.returnedLength)
    this.#slots.begin(area, journal.state)
  }

  /** Others may look at the state and at the clock. */
  #suspend(area: LinearArea): void {
    this.#slots.flush()
    const left = this.#linear.u32(area.base + TICKS_AT) | 0
    area.frame.session.clock.ticks -= area.ticks - left
    area.ticks = left
  }

  /** An opcode from the table, on the operands below `end`; not 0 when the frame does not go on. */
  #runOpcode(base: number, end: number, opcode: number): number {
    const { frame } = this.#current()
    const linear = this.#linear
    const row = this.#rowOf(opcode)
    const count = row.pops
    const bottom = end - 32 * count
    const { stack } = frame
    for (let i = 0; i < count; i++) stack[i] = linear.read(bottom + 32 * i)
    frame.sp = count
    frame.gas = linear.f64(base + GAS_AT)
    frame.leftOpcode = opcode
    row.run(frame)
    linear.putF64(base + GAS_AT, frame.gas)
    linear.putU32(base + MEMORY_SIZE_AT, frame.memoryWords * 32)
    if (frame.sp > 0) {
      linear.write(bottom, stack[0] as bigint)
      frame.sp = 0
    }
    return frame.status === 'running' ? 0 : 1
  }

  /** SLOAD of a cell that was not used lately. */
  #load(end: number): number {
    const area = this.#current()
    const { frame } = area
    const value = frame.session.journal.state.storage(frame.address, this.#linear.read(end - 32))
    this.#slots.keep(area, end - 32, value)
    this.#linear.write(end - 32, value)
    frame.spend(STATE_TICKS)
    return frame.status === 'running' ? 0 : 1
  }

  /** SSTORE that compiled code cannot do by itself. */
  #store(base: number, end: number, opcode: number): number {
    this.#slots.flush()
    const status = this.#runOpcode(base, end, opcode)
    this.#slots.follow()
    this.#slots.keep(this.#current(), end - 32, this.#linear.read(end - 64))
    return status
  }

  /** SHA3 that compiled code cannot do by itself: it opens memory, is long, or cannot be paid. */
  #hash(base: number, end: number, opcode: number): number {
    const { frame } = this.#current()
    const linear = this.#linear
    const offset = linear.small(end - 32)
    const length = linear.small(end - 64)
    if (offset < 0 || length <= 0) return this.#runOpcode(base, end, opcode)
    const gas = linear.f64(base + GAS_AT)
    const cost = GAS.keccak256Word * Math.ceil(length / 32) + frame.costTo(offset + length)
    if (cost > gas) return this.#runOpcode(base, end, opcode)
    linear.putF64(base + GAS_AT, gas - cost)
    frame.grow(offset + length)
    linear.putU32(base + MEMORY_SIZE_AT, frame.memoryWords * 32)
    this.#keccak(base + MEMORY_AT + offset, length, DIGEST_AT)
    const { bytes } = linear
    for (let i = 0; i < 32; i++) bytes[end - 64 + i] = bytes[DIGEST_AT + 31 - i] ?? 0
    spendHash(frame, length)
    return frame.status === 'running' ? 0 : 1
  }

  /**
   * A call whose operands are small, by small steps; any other from the table. Code goes on here when the callee could
   * run to its end.
   */
  #call(base: number, end: number, opcode: number): number {
    const area = this.#current()
    const { frame } = area
    const linear = this.#linear
    frame.gas = linear.f64(base + GAS_AT)
    const row = this.#rowOf(opcode)
    const call = this.#plain
    if (call.read(linear, end, row, area)) {
      linear.putF64(base + GAS_AT, frame.gas)
      linear.putU32(base + MEMORY_SIZE_AT, frame.memoryWords * 32)
    } else {
      this.#runOpcode(base, end, opcode)
      if (!call.take(area)) return 1
    }
    this.#suspend(area)
    const result = (this.#execution as CallRunner).call(frame, call)
    if (result < 0) return 1
    this.#resume(area)
    const at = end - 32 * row.pops
    this.#linear.write(at, result === 0 ? 0n : 1n)
    return 0
  }

  /** RETURN and REVERT. */
  #finish(base: number, end: number, opcode: number): number {
    const area = this.#current()
    const { frame } = area
    const linear = this.#linear
    const offset = linear.small(end - 32)
    const length = linear.small(end - 64)
    if (offset < 0 || length < 0) return this.#runOpcode(base, end, opcode)
    const gas = linear.f64(base + GAS_AT)
    const last = length === 0 ? 0 : offset + length
    const cost = frame.costTo(last)
    if (cost > gas) return this.#runOpcode(base, end, opcode)
    linear.putF64(base + GAS_AT, gas - cost)
    frame.grow(last)
    // The linear memory does not outlive the message.
    const stays = length > 0 && frame.depth > 0
    frame.stop(stays ? area.output(offset, length) : frame.read(offset, length))
    frame.reverted = opcode === REVERT.code
    return 1
  }

  /** Opens memory up to `end`; 0 when the gas does not suffice. */
  #expand(base: number, end: number): number {
    const { frame } = this.#current()
    const linear = this.#linear
    const gas = linear.f64(base + GAS_AT)
    const cost = frame.costTo(end)
    if (cost > gas) return 0
    linear.putF64(base + GAS_AT, gas - cost)
    frame.grow(end)
    linear.putU32(base + MEMORY_SIZE_AT, frame.memoryWords * 32)
    return 1
  }

  #rowOf(opcode: number): Operation {
    const row = this.#table?.[opcode]
    if (row === undefined) throw new Error(`compiled code runs opcode ${opcode}, which there is not`)
    return row
  }

  /** The frame that runs, with the memory that compiled code has opened. */
  #current(): LinearArea {
    const area = this.#running
    if (area === undefined) throw new Error('compiled code runs outside a frame')
    area.frame.memoryWords = this.#linear.u32(area.base + MEMORY_SIZE_AT) >> 5
    return area
  }
}
