/** The tree of calls that a transaction made: plain data, whoever prints it. */
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'

/** How a frame came to be. `selfdestruct` is the end of a contract, told as a child of the frame that ended it. */
export type FrameKind =
  | 'call'
  | 'callcode'
  | 'delegatecall'
  | 'staticcall'
  | 'create'
  | 'create2'
  | 'selfdestruct'

/** The exception of the chain's node for a failure that is no REVERT (docs/rpc-reference.md#68-flat-trace). */
export interface VmException {
  /** The Java class, for example `org.ethereum.vm.program.Program$OutOfGasException`. */
  readonly name: string
  /** Its words; `{tx}` stands for the hash of the transaction. */
  readonly message: string
}

/** Why a frame did not succeed. */
export interface FrameFailure {
  /**
   * `reverted`: by REVERT, the payload is the frame's output. `failed`: an exception, all gas of the frame
   * lost. `refused`: never begun, for want of balance or too deep (docs/protocol.md#63-calls-and-creations);
   * the caller keeps its gas.
   */
  readonly kind: 'reverted' | 'failed' | 'refused'
  /** For a person: `out of gas`, `revert not the owner`, `transaction reverted` when the payload holds no text. */
  readonly reason: string
  /** Of a `failed` frame only. */
  readonly exception?: VmException
}

/** A log as it was emitted. */
export interface FrameLog {
  readonly log: Log
  /** How many children of the frame had been made before. */
  readonly position: number
  /** Place among the logs of the transaction's receipt; absent when a failure took the log back. */
  readonly index?: number
}

/** One call, creation or self-destruct, with what it called in turn. Gas in gas, value in wei. */
export interface CallFrame {
  readonly kind: FrameKind
  /** 0 is the transaction's own. */
  readonly depth: number
  /** Who makes the call; of a delegatecall or callcode the contract that lends its storage. The dying contract. */
  readonly from: Hex
  /** Whose code runs; the created contract; who inherits. `undefined` when a creation got as far as no address. */
  readonly to: Hex | undefined
  /** Of a delegatecall what the calling frame came with; of a self-destruct the balance that moved. */
  readonly value: bigint
  /** Gas that came with the call; of the transaction's own frame its whole limit. 0 for a self-destruct. */
  readonly gas: bigint
  /** Of the transaction's own frame what the receipt says. */
  readonly gasUsed: bigint
  /** Call data, or init code. */
  readonly input: Uint8Array
  /** What was returned, the payload of a REVERT, or the new contract's code. */
  readonly output: Uint8Array
  readonly failure?: FrameFailure
  /** Is the callee a contract of the node itself? */
  readonly isPrecompile: boolean
  /** Did bytecode run? Neither for a plain transfer nor for a native contract. */
  readonly ranCode: boolean
  readonly logs: readonly FrameLog[]
  readonly calls: readonly CallFrame[]
}
