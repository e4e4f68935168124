/** One running frame: its place in the call tree, stack, memory and gas. */
import type { Transaction } from '../chain/transaction.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { StorageValue } from '../state/state-keys.ts'
import { analyse, type CodeAnalysis } from './code-analysis.ts'
import { FAILURE, type FailureReason, fail } from './failure.ts'
import { MEMORY_LIMIT, memoryGas } from './gas-schedule.ts'
import type { Journal } from './journal.ts'
import { bytesOf, type FrameData } from './memory-range.ts'
import type { BlockEnvironment } from './message.ts'
import type { Precompile } from './precompiles/precompile.ts'
import type { RunClock } from './scheduler.ts'
import type { FrameView, Tracer } from './tracing/tracer.ts'

/** What all frames of one top-level message share. */
export interface Session {
  /** The active precompiled contracts, by address. */
  readonly precompiles: ReadonlyMap<Hex, Precompile>
  readonly chainId: number
  readonly journal: Journal
  readonly env: BlockEnvironment
  readonly origin: Hex
  /** The signed transaction that runs; `undefined` in a simulation. */
  readonly transaction: Transaction | undefined
  readonly transactionIndex: number
  /** Wei per gas. */
  readonly gasPrice: bigint
  readonly clock: RunClock
  /** Leaves when it is done. */
  tracer: Tracer | undefined
}

/** A call that the running code requests; gas in gas. */
export interface CallRequest {
  readonly kind: 'call' | 'callcode' | 'delegatecall' | 'staticcall'
  /** Account whose code is called. */
  readonly target: Hex
  readonly value: bigint
  readonly input: FrameData
  readonly gas: number
  readonly outputOffset: number
  readonly outputLength: number
}

/** A creation that the running code requests. `salt` is of CREATE2 only. */
export interface CreateRequest {
  readonly kind: 'create' | 'create2'
  readonly value: bigint
  readonly initcode: Uint8Array
  readonly gas: number
  readonly salt: bigint | undefined
}

/** A call or creation that the running code requests. */
export type ChildRequest = CallRequest | CreateRequest

/**
 * Why the interpreter has stopped: not at all, the frame has ended, a call is requested, a pause is due, or the code
 * from here on has run so often that it is to be compiled, or is so already.
 */
export type FrameStatus = 'running' | 'stopped' | 'calling' | 'due' | 'hot'

/** The place of a frame in the linear memory of compiled code; the frame's memory stays there until it ends. */
export interface FrameArea {
  /** The memory that there is room for; valid until a frame of the message needs more. */
  memory(): Uint8Array
  /** Opens memory from one length in bytes to another; it holds zeros. */
  open(from: number, to: number): void
  /** A copy of memory that is open. */
  read(offset: number, length: number): Uint8Array
  /** Writes the first `length` bytes of data to memory that is open. */
  write(data: FrameData, offset: number, length: number): void
}

const NO_CODE = analyse(EMPTY, false)

/** A frame. Only the interpreter and the opcodes change it while it runs. */
export class Frame implements FrameView {
  readonly session: Session
  analysis: CodeAnalysis = NO_CODE
  address: Hex = '0x'
  caller: Hex = '0x'
  value = 0n
  #input: FrameData = EMPTY
  isStatic = false
  depth = 0

  pc = 0
  /** Gas that the frame began with. */
  gasGiven = 0
  /** Gas left; a safe integer. */
  gas = 0
  /** Slots at and above `sp` are stale. */
  readonly stack: bigint[] = []
  sp = 0
  /** `undefined` while the frame's area has it and it has not been read. */
  #memory: Uint8Array | undefined = EMPTY
  #memoryView: DataView | undefined
  /** Memory in use, 32-byte words; all of them are paid. */
  memoryWords = 0
  /** The opcode that compiled code left to its record last, with its operands at the bottom of `stack`; for traces of failures. */
  leftOpcode: number | undefined
  /** Gas that the failing opcode required beyond its fee, when that was too much; for traces. */
  lacking = 0
  /** Did RETURNDATACOPY fail because the return data are too short? For traces. */
  isOutOfBounds = false
  #returned: FrameData = EMPTY
  /** What this frame returns. */
  output: FrameData = EMPTY
  /** Did the frame end by REVERT? */
  reverted = false
  status: FrameStatus = 'running'
  /** Where the frame is while compiled code has run in it. */
  area: FrameArea | undefined
  /** The call to make while `status` is `calling`. */
  child: ChildRequest | undefined

  constructor(session: Session) {
    this.session = session
  }

  /** Begins a call in this frame, which is new or whose call has ended. An object of parameters would cost each call an allocation. */
  begin(
    analysis: CodeAnalysis,
    address: Hex,
    caller: Hex,
    value: bigint,
    input: FrameData,
    isStatic: boolean,
    depth: number,
    gas: number,
  ): void {
    this.analysis = analysis
    this.address = address
    this.caller = caller
    this.value = value
    this.#input = input
    this.isStatic = isStatic
    this.depth = depth
    this.gasGiven = gas
    this.gas = gas
    this.pc = analysis.start
    this.sp = 0
    this.#memory = EMPTY
    this.#memoryView = undefined
    this.memoryWords = 0
    this.lacking = 0
    this.isOutOfBounds = false
    this.#returned = EMPTY
    this.output = EMPTY
    this.reverted = false
    this.status = 'running'
    this.area = undefined
    this.child = undefined
  }

  get code(): Uint8Array {
    return this.analysis.code
  }

  /** The call data; copied from the caller's memory on first use. */
  get input(): Uint8Array {
    const input = bytesOf(this.#input)
    this.#input = input
    return input
  }

  /** The call data where they are. */
  get callData(): FrameData {
    return this.#input
  }

  /** What the last child returned; copied from its memory on first use. */
  get returned(): Uint8Array {
    const returned = bytesOf(this.#returned)
    this.#returned = returned
    return returned
  }

  set returned(data: FrameData) {
    this.#returned = data
  }

  /** Copies what the last child returned, before something else is where it was. */
  keepReturned(): void {
    this.#returned = bytesOf(this.#returned)
  }

  /** The length of what the last child returned. */
  get returnedLength(): number {
    return this.#returned.length
  }

  get refund(): number {
    return this.session.journal.refund
  }

  get passedGas(): number {
    const { child } = this
    return child === undefined || 'initcode' in child ? 0 : child.gas
  }

  storageAt(slot: bigint): bigint {
    return this.session.journal.state.storage(this.address, slot)
  }

  storageCells(): ReadonlyMap<bigint, StorageValue> {
    return this.session.journal.state.cells(this.address)
  }

  countWork(ticks: number): void {
    this.session.clock.ticks -= ticks
  }

  /** Takes the top of the stack; the interpreter has checked that it is there. */
  pop(): bigint {
    return this.stack[--this.sp] as bigint
  }

  /** The interpreter has checked that there is room. */
  push(word: bigint): void {
    this.stack[this.sp++] = word
  }

  /** Pays gas or fails. */
  charge(gas: number): void {
    if (gas > this.gas) this.failForGas(gas)
    this.gas -= gas
  }

  /** Fails because this much gas is not left. */
  failForGas(gas: number): never {
    this.lacking = gas
    fail(FAILURE.OUT_OF_GAS)
  }

  /** Takes what the interpreter's loop has in registers. */
  put(pc: number, sp: number, gas: number): void {
    this.pc = pc
    this.sp = sp
    this.gas = gas
  }

  /** Fails in the interpreter's loop; a trace reads pc, sp and gas in the frame. */
  failAt(failure: FailureReason, pc: number, sp: number, gas: number): never {
    this.put(pc, sp, gas)
    fail(failure)
  }

  /** Cost of memory up to `offset + length`, beyond what is paid already; fails where no gas could pay. */
  expansionCost(offset: bigint, length: bigint): number {
    if (length === 0n) return 0
    const end = offset + length
    if (end > MEMORY_LIMIT) this.failForGas(Number.MAX_SAFE_INTEGER)
    return this.costTo(Number(end))
  }

  /** Cost of memory up to `end` bytes, which are no more than the limit, beyond what is paid already. */
  costTo(end: number): number {
    const words = Math.ceil(end / 32)
    return words <= this.memoryWords ? 0 : memoryGas(words) - memoryGas(this.memoryWords)
  }

  /**
   * Pays `extra` and memory up to `offset + length`, in one, so that a trace shows what the opcode requires, and opens
   * the memory. The offset as a number (0 when the length is 0).
   */
  expand(offset: bigint, length: bigint, extra = 0): number {
    const cost = this.expansionCost(offset, length)
    this.charge(extra + cost)
    if (cost > 0) this.grow(Number(offset + length))
    return length === 0n ? 0 : Number(offset)
  }

  /** Opens memory up to `end` bytes, already paid. */
  grow(end: number): void {
    const words = Math.ceil(end / 32)
    const before = this.memoryWords
    if (words <= before) return
    this.memoryWords = words
    if (this.area !== undefined) {
      this.area.open(before * 32, words * 32)
      return
    }
    const { memory } = this
    if (words * 32 <= memory.length) return
    const larger = new Uint8Array(Math.max(words * 32, memory.length * 2, 256))
    larger.set(memory)
    this.#memory = larger
    this.#memoryView = undefined
  }

  /** Longer than the memory in use. Not to be kept while memory may grow. */
  get memory(): Uint8Array {
    this.#memory ??= (this.area as FrameArea).memory()
    return this.#memory
  }

  /** The memory is elsewhere in the frame's area; the bytes in use are there already. */
  moveMemory(): void {
    this.#memory = undefined
    this.#memoryView = undefined
  }

  /** The same bytes as `memory`, to read and write words; made when it is first used. */
  get memoryView(): DataView {
    const { buffer, byteOffset, length } = this.memory
    this.#memoryView ??= new DataView(buffer, byteOffset, length)
    return this.#memoryView
  }

  /** A copy of memory that is open. */
  read(offset: number, length: number): Uint8Array {
    if (length === 0) return EMPTY
    if (this.area !== undefined) return this.area.read(offset, length)
    return this.memory.slice(offset, offset + length)
  }

  /** Writes to memory that is open. */
  write(bytes: Uint8Array, offset: number): void {
    if (this.area !== undefined) this.area.write(bytes, offset, bytes.length)
    else this.memory.set(bytes, offset)
  }

  /** Writes what the last child returned, at most `most` bytes, to memory that is open. */
  writeReturned(offset: number, most: number): void {
    const data = this.#returned
    if (this.area !== undefined) this.area.write(data, offset, Math.min(most, data.length))
    else if (most > 0) this.memory.set(this.returned.subarray(0, most), offset)
  }

  /** Writes all of a precompiled contract's output where the last call wants it, as before RSKIP-150; free of charge. */
  writeBeyond(output: Uint8Array, offset: number): void {
    this.grow(offset + output.length)
    this.write(output, offset)
  }

  /** Fails in a frame that may not change state. */
  forbidStatic(): void {
    if (this.isStatic) fail(FAILURE.STATIC_STATE_CHANGE)
  }

  /** Counts an opcode that takes the time of this many jumps; the interpreter stops after it when a pause is due. */
  spend(ticks: number): void {
    const { clock } = this.session
    clock.ticks -= ticks
    if (clock.ticks <= 0 && clock.mustPause()) this.status = 'due'
  }

  /** Ends the frame without failure. */
  stop(output: FrameData): void {
    this.output = output
    this.status = 'stopped'
  }

  /** Requests a call; the interpreter resumes with its result. */
  request(child: ChildRequest): void {
    this.child = child
    this.status = 'calling'
  }
}
