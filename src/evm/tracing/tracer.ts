/** The interface between the EVM and tracers. Every hook is optional; an absent one costs nothing. */
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import type { StorageValue } from '../../state/state-keys.ts'
import type { FrameFailure, FrameKind } from './call-frame.ts'
import type { InstructionCounts } from './instruction-counts.ts'

/** The start of a call or creation. Gas in gas, value in wei. */
export interface FrameStart {
  readonly kind: Exclude<FrameKind, 'selfdestruct'>
  readonly depth: number
  readonly from: Hex
  /** The contract whose code runs; `undefined` for a creation, whose address is known at its end. */
  readonly to: Hex | undefined
  readonly value: bigint
  readonly gas: bigint
  /** Call data or init code; not modified later. */
  readonly input: Uint8Array
  readonly isPrecompile: boolean
  /** Is there bytecode to run? */
  readonly runsCode: boolean
}

/** The end of a frame. Gas in gas. */
export interface FrameEnd {
  readonly gasUsed: bigint
  /** Returned bytes, payload of a REVERT, new code; empty after any other failure. */
  readonly output: Uint8Array
  readonly failure?: FrameFailure
  /** The address of a creation, if it was computed. */
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
  /** All slots of `address` that are not zero. Walks its whole storage. */
  storageCells(): ReadonlyMap<bigint, StorageValue>
  /** Counts time that the tracer spent, in jumps, so that the interpreter yields accordingly sooner. */
  countWork(ticks: number): void
}

/** The end of a transaction or simulated message. Gas in gas, intrinsic gas included. */
export interface TraceEnd {
  readonly gasLimit: bigint
  /** The refund is deducted. */
  readonly gasUsed: bigint
  readonly succeeded: boolean
  /** Returned bytes or payload of a REVERT. */
  readonly output: Uint8Array
  /** The state with fees paid and destroyed contracts deleted. */
  readonly after: StateReader
}

/** A tracer of one transaction. What it throws ends the run. */
export interface Tracer {
  /** Looked at after each `enter`: when true, the run goes on without the tracer, which then gets `finish` alone. */
  readonly isDone?: boolean
  /** Receives the state before the transaction and returns the reader to use instead; each value is read from that once. */
  wrapState?(before: StateReader): StateReader
  /** Always followed by its `exit`, with the frames in between inside it, unless the tracer is done. */
  enter?(start: FrameStart): void
  exit?(end: FrameEnd): void
  /** SELFDESTRUCT in the frame entered last: its balance (wei) goes to `beneficiary`. */
  selfDestruct?(contract: Hex, beneficiary: Hex, balance: bigint): void
  /** By the frame entered last. */
  log?(log: Log): void
  /** Before each opcode. With this hook `traced-interpreter.ts` runs the code, several times slower. */
  step?(frame: FrameView, opcode: number): void
  /**
   * After the opcode of the last `step`, before a call that it makes starts. `cost` in gas, with the gas that a CALL
   * passes to its callee; `failure` is one of `FAILURE` when the opcode ended the frame with one.
   */
  stepped?(frame: FrameView, cost: number, failure: string | undefined): void
  /** Before code of the frame entered last runs, and goes on: where its instructions are counted. Without effect beside `step`. */
  countsOf?(code: Uint8Array): InstructionCounts
  /** The last event. */
  finish?(end: TraceEnd): void
}
