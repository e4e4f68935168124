/**
 * What code does that the rules of ERC-7562 restrict for the validation of user operations: opcodes, slots, sizes of other
 * contracts, preimages of hashes. Follows geth's `erc7562Tracer` (eth/tracers/native/erc7562.go), its order of checks
 * included.
 */

import type { Log } from '../../chain/receipt.ts'
import { type Hex, toFixedHex, toHex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import { GAS, memoryGas } from '../gas-schedule.ts'
import type { CallFrame } from './call-frame.ts'
import { CallTracer } from './call-tracer.ts'
import { CHARACTERS_PER_TICK } from './running-step.ts'
import type { TraceBudget } from './trace-budget.ts'
import type { FrameEnd, FrameStart, FrameView, TraceEnd, Tracer } from './tracer.ts'

const OPCODE = {
  keccak256: 0x20,
  extCodeSize: 0x3b,
  extCodeCopy: 0x3c,
  extCodeHash: 0x3f,
  isZero: 0x15,
  sload: 0x54,
  sstore: 0x55,
  gas: 0x5a,
  tload: 0x5c,
  tstore: 0x5d,
  call: 0xf1,
  callCode: 0xf2,
  return: 0xf3,
  delegateCall: 0xf4,
  staticCall: 0xfa,
  revert: 0xfd,
} as const

const CALLS: readonly number[] = [OPCODE.call, OPCODE.callCode, OPCODE.delegateCall, OPCODE.staticCall]
const READS_OF_CODE: readonly number[] = [OPCODE.extCodeSize, OPCODE.extCodeCopy, OPCODE.extCodeHash]

/** Estimated memory of a frame, and of one entry in its lists, bytes. */
const FRAME_BYTES = 512
const ENTRY_BYTES = 96

/** What the code of one frame did. Counts by opcode or slot. */
export interface FrameAccess {
  /** The value of each slot when it was first read, unless it was written before. */
  readonly reads: ReadonlyMap<bigint, bigint>
  readonly writes: ReadonlyMap<bigint, number>
  readonly transientReads: ReadonlyMap<bigint, number>
  readonly transientWrites: ReadonlyMap<bigint, number>
  /** Addresses whose code was read, but for a size that was only compared with zero. */
  readonly codeReads: readonly Hex[]
  readonly opcodes: ReadonlyMap<number, number>
  /** The size of other contracts' code, bytes, and the opcode that touched each first. */
  readonly sizes: ReadonlyMap<Hex, { readonly size: number; readonly opcode: number }>
  readonly calls: readonly FrameAccess[]
}

interface OpenAccess extends FrameAccess {
  readonly reads: Map<bigint, bigint>
  readonly writes: Map<bigint, number>
  readonly transientReads: Map<bigint, number>
  readonly transientWrites: Map<bigint, number>
  readonly codeReads: Hex[]
  readonly opcodes: Map<number, number>
  readonly sizes: Map<Hex, { size: number; opcode: number }>
  readonly calls: OpenAccess[]
}

function emptyAccess(): OpenAccess {
  return {
    reads: new Map(),
    writes: new Map(),
    transientReads: new Map(),
    transientWrites: new Map(),
    codeReads: [],
    opcodes: new Map(),
    sizes: new Map(),
    calls: [],
  }
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The address in a word of the stack. */
function addressIn(word: bigint): Hex {
  return toFixedHex(BigInt.asUintN(160, word), 20)
}

/** Records calls and what their code did; both are complete once the transaction is over. Throws `limit-exceeded`. */
export class Erc7562Tracer implements Tracer {
  readonly #budget: TraceBudget
  readonly #calls: CallTracer
  readonly #ignored: ReadonlySet<number>
  readonly #open: OpenAccess[] = []
  readonly #preimages = new Set<Hex>()
  /** Sizes of the code of contracts that the transaction created. */
  readonly #created = new Map<Hex, number>()
  #before: StateReader | undefined
  #root: OpenAccess | undefined
  /** The opcode before, of any frame, and the top of its stack; unset by RETURN and REVERT. */
  #last: { readonly opcode: number; readonly top: bigint | undefined } | undefined

  /** `ignored`: opcodes that are not counted. */
  constructor(budget: TraceBudget, ignored: ReadonlySet<number>) {
    this.#budget = budget
    this.#calls = new CallTracer(budget)
    this.#ignored = ignored
  }

  /** The transaction's own frame. */
  get root(): CallFrame {
    return this.#calls.root
  }

  /** What its code did, with its calls in the order of those of `root`. */
  get access(): FrameAccess {
    if (this.#root === undefined) throw new Error('nothing was traced')
    return this.#root
  }

  /** All that was hashed, in the order of the bytes. */
  get preimages(): readonly Hex[] {
    return [...this.#preimages].sort()
  }

  wrapState(before: StateReader): StateReader {
    this.#before = before
    return before
  }

  enter(start: FrameStart): void {
    this.#calls.enter(start)
    this.#begin()
  }

  exit(end: FrameEnd): void {
    this.#calls.exit(end)
    this.#open.pop()
    if (end.created !== undefined && end.failure === undefined)
      this.#created.set(end.created, end.output.length)
  }

  selfDestruct(contract: Hex, beneficiary: Hex, balance: bigint): void {
    this.#calls.selfDestruct(contract, beneficiary, balance)
    this.#begin()
    this.#open.pop()
  }

  log(log: Log): void {
    this.#calls.log(log)
  }

  finish(end: TraceEnd): void {
    this.#calls.finish(end)
  }

  step(view: FrameView, opcode: number): void {
    const frame = this.#open.at(-1)
    if (frame === undefined) throw new Error('no frame is open')
    if (opcode === OPCODE.return || opcode === OPCODE.revert) this.#last = undefined
    const last = this.#last
    if (last !== undefined) this.#noteCodeRead(frame, last, opcode)
    this.#noteSize(frame, view, opcode)
    if (last?.opcode === OPCODE.gas && !CALLS.includes(opcode)) count(frame.opcodes, OPCODE.gas)
    if (opcode !== OPCODE.gas && !this.#ignored.has(opcode)) count(frame.opcodes, opcode)
    this.#noteSlot(frame, view, opcode)
    if (opcode === OPCODE.keccak256) this.#notePreimage(view)
    this.#last = { opcode, top: view.sp === 0 ? undefined : view.stack[view.sp - 1] }
  }

  #begin(): void {
    this.#budget.take(FRAME_BYTES)
    const frame = emptyAccess()
    const parent = this.#open.at(-1)
    if (parent === undefined) this.#root ??= frame
    else parent.calls.push(frame)
    this.#open.push(frame)
  }

  /** OP-051: a size that is only compared with zero is no access. */
  #noteCodeRead(frame: OpenAccess, last: { opcode: number; top: bigint | undefined }, opcode: number): void {
    if (!READS_OF_CODE.includes(last.opcode) || last.top === undefined) return
    if (last.opcode === OPCODE.extCodeSize && opcode === OPCODE.isZero) return
    this.#budget.take(ENTRY_BYTES)
    frame.codeReads.push(addressIn(last.top))
  }

  /** OP-041: the code of others has to be there. */
  #noteSize(frame: OpenAccess, { stack, sp }: FrameView, opcode: number): void {
    const readsCode = READS_OF_CODE.includes(opcode)
    if (!readsCode && !CALLS.includes(opcode)) return
    const word = stack[sp - (readsCode ? 1 : 2)]
    // Too few words: the opcode fails.
    if (sp < (readsCode ? 1 : 2) || word === undefined) return
    const address = addressIn(word)
    if (frame.sizes.has(address)) return
    this.#budget.take(ENTRY_BYTES)
    frame.sizes.set(address, { size: this.#sizeOf(address), opcode })
  }

  #sizeOf(address: Hex): number {
    const created = this.#created.get(address)
    if (created !== undefined) return created
    const hash = this.#before?.account(address)?.codeHash
    return hash === undefined ? 0 : (this.#before?.code(hash).length ?? 0)
  }

  #noteSlot(frame: OpenAccess, view: FrameView, opcode: number): void {
    const isSlot =
      opcode === OPCODE.sload ||
      opcode === OPCODE.sstore ||
      opcode === OPCODE.tload ||
      opcode === OPCODE.tstore
    const slot = view.stack[view.sp - 1]
    if (!isSlot || view.sp === 0 || slot === undefined) return
    this.#budget.take(ENTRY_BYTES)
    if (opcode === OPCODE.sstore) count(frame.writes, slot)
    else if (opcode === OPCODE.tload) count(frame.transientReads, slot)
    else if (opcode === OPCODE.tstore) count(frame.transientWrites, slot)
    else if (!frame.reads.has(slot) && !frame.writes.has(slot)) frame.reads.set(slot, view.storageAt(slot))
  }

  /** Memory beyond what is in use reads as zeros; what the gas cannot pay for is no preimage. */
  #notePreimage(view: FrameView): void {
    const { stack, sp, memory, memoryWords } = view
    const [offset, length] = [stack[sp - 1], stack[sp - 2]]
    if (sp < 2 || offset === undefined || length === undefined || !canHash(view, offset, length)) return
    const [from, bytes] = [Number(offset), new Uint8Array(Number(length))]
    const inUse = memoryWords * 32
    bytes.set(memory.subarray(Math.min(from, inUse), Math.min(from + bytes.length, inUse)))
    const preimage = toHex(bytes)
    view.countWork(preimage.length / CHARACTERS_PER_TICK)
    if (this.#preimages.has(preimage)) return
    this.#budget.take(ENTRY_BYTES + preimage.length)
    this.#preimages.add(preimage)
  }
}

/** Does the gas of a frame pay for a hash of these bytes of memory, and for memory up to their end? */
function canHash({ gas, memoryWords }: FrameView, offset: bigint, length: bigint): boolean {
  if (length === 0n) return true
  const end = offset + length
  if (end > BigInt(Number.MAX_SAFE_INTEGER)) return false
  const [words, hashed] = [Math.ceil(Number(end) / 32), Math.ceil(Number(length) / 32)]
  const growth = Math.max(0, memoryGas(words) - memoryGas(memoryWords))
  return growth + GAS.keccak256Word * hashed <= gas
}
