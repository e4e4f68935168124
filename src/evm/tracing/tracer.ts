/** What may listen while a transaction runs. All of it is optional: what nobody listens to costs nothing. */
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import type { FrameFailure, FrameKind } from './call-frame.ts'

/** A call or creation as it begins. Gas in gas, value in wei. */
export interface FrameStart {
  readonly kind: Exclude<FrameKind, 'selfdestruct'>
  readonly depth: number
  readonly from: Hex
  /** Whose code runs; `undefined` for a creation, whose address is known at its end. */
  readonly to: Hex | undefined
  readonly value: bigint
  readonly gas: bigint
  /** Call data or init code; nobody writes to it later. */
  readonly input: Uint8Array
  readonly isPrecompile: boolean
  /** Is there bytecode to run? */
  readonly runsCode: boolean
}

/** How it ended. */
export interface FrameEnd {
  readonly gasUsed: bigint
  /** Returned bytes, payload of a REVERT, new code; empty after any other failure. */
  readonly output: Uint8Array
  readonly failure?: FrameFailure
  /** Address of a creation that got one. */
  readonly created?: Hex
}

/** A running frame as a tracer may read it; valid during the call only, since the interpreter changes it in place. */
export interface FrameView {
  /** Account whose storage the code uses. */
  readonly address: Hex
  /** 0 is the transaction's own frame. */
  readonly depth: number
  readonly code: Uint8Array
  readonly pc: number
  /** Gas left. */
  readonly gas: number
  /** Words below `sp` are on the stack, the top one at `sp - 1`; the others are stale. */
  readonly stack: readonly bigint[]
  readonly sp: number
  /** Longer than the memory in use, which is `memoryWords` words of 32 bytes. */
  readonly memory: Uint8Array
  readonly memoryWords: number
  /** Return data of the last call. */
  readonly returned: Uint8Array
  /** Gas to refund so far, of the whole message, not yet capped. */
  readonly refund: number
  /** Gas that the call of the current opcode passes to its callee: part of the opcode's cost, but for a creation 0. */
  readonly passedGas: number
  /** Current word of a slot of `address`. */
  storageAt(slot: bigint): bigint
  /** Counts time that the tracer spent, in jumps, so that the interpreter yields accordingly sooner. */
  countWork(ticks: number): void
}

/** What is known when a transaction or simulated message is over. Gas in gas, with the intrinsic gas in it. */
export interface TraceEnd {
  readonly gasLimit: bigint
  /** The refund is taken off. */
  readonly gasUsed: bigint
  readonly succeeded: boolean
  /** Returned bytes or payload of a REVERT. */
  readonly output: Uint8Array
  /** Fees are paid, destroyed contracts are gone. */
  readonly after: StateReader
}

/** A listener to one transaction. What it throws ends the run. */
export interface Tracer {
  /** Sees the state before the transaction; what it gives is read in its place, once a word. */
  watch?(before: StateReader): StateReader
  /** Always followed by its `exit`, with the frames in between inside it. */
  enter?(start: FrameStart): void
  exit?(end: FrameEnd): void
  /** In the frame entered last: its balance (wei) goes to `heir` and it will be gone. */
  selfDestruct?(contract: Hex, heir: Hex, balance: bigint): void
  /** By the frame entered last. */
  log?(log: Log): void
  /** Before each opcode. Where this is there, a loop of its own runs, several times slower. */
  step?(frame: FrameView, opcode: number): void
  /**
   * After the opcode that `step` told of, before a call that it makes begins. `cost` in gas, with what a CALL hands down;
   * `failure` is the library's word when the opcode ended the frame with one.
   */
  stepped?(frame: FrameView, cost: number, failure: string | undefined): void
  /** Last of all. */
  finish?(end: TraceEnd): void
}
