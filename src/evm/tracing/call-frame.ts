/** The call tree of one transaction as plain data, independent of any output format. */
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'

/** What started a frame. `selfdestruct` is a child of the frame that executed SELFDESTRUCT. */
export type FrameKind =
  | 'call'
  | 'callcode'
  | 'delegatecall'
  | 'staticcall'
  | 'create'
  | 'create2'
  | 'selfdestruct'

/** The numbers behind a failure other than REVERT; formatters make messages of them. Gas in gas. */
export type FailureCause =
  /**
   * An opcode that could not be paid: `required` is what it costs, `undefined` when it needs more memory than any gas
   * pays; `available` is the gas before it. `operation` is its name, or its two hex digits; `by` is `call` when a call
   * could not be paid, and `stipend` when only the stipend of its callee could not.
   */
  | {
      readonly kind: 'out-of-gas'
      readonly by: 'opcode' | 'call' | 'stipend'
      readonly operation: string
      readonly required: number | undefined
      readonly available: number
    }
  /** A precompiled contract, or the deposit of a new contract's code, that a call with `gas` could not pay. */
  | { readonly kind: 'precompile-out-of-gas' | 'deposit-out-of-gas'; readonly gas: bigint }
  /** RETURNDATACOPY beyond the end of the return data (EIP-211). */
  | {
      readonly kind: 'return-data-bounds'
      readonly offset: bigint
      readonly size: bigint
      readonly available: number
    }
  | { readonly kind: 'invalid-opcode'; readonly opcode: number }
  | { readonly kind: 'invalid-jump'; readonly target: bigint }
  | { readonly kind: 'stack-underflow'; readonly required: number; readonly available: number }
  | { readonly kind: 'stack-overflow'; readonly limit: number }
  | { readonly kind: 'static-violation' }
  /** Init code of more bytes than `limit`. */
  | { readonly kind: 'initcode-size'; readonly size: bigint; readonly limit: number }
  /** The new contract's code begins with 0xef (EIP-3541). */
  | { readonly kind: 'code-prefix' }
  /** A precompiled contract that failed, or a failure without numbers of its own. */
  | { readonly kind: 'other'; readonly message: string }

/** Why a frame did not succeed. */
export interface FrameFailure {
  /**
   * `reverted`: by REVERT, the payload is the frame's output. `failed`: an exception, all gas of the frame
   * lost. `refused`: never started, because of its depth or the caller's balance
   * (docs/internals/protocol.md#63-calls-and-creations); the caller keeps its gas.
   */
  readonly kind: 'reverted' | 'failed' | 'refused'
  /** Readable: `out of gas`, `revert not the owner`, `transaction reverted` when the payload holds no text. */
  readonly reason: string
  /** The text of an `Error(string)` payload, of a `reverted` frame only. */
  readonly revertReason?: string
  /** Of a `failed` frame only. */
  readonly cause?: FailureCause
}

/** A log as it was emitted. */
export interface FrameLog {
  readonly log: Log
  /** Number of the frame's children that precede the log. */
  readonly position: number
  /** Index among the logs of the transaction's receipt; absent when a failure discarded the log. */
  readonly index?: number
}

/** One call, creation or self-destruct, with its child frames. Gas in gas, value in wei. */
export interface CallFrame {
  readonly kind: FrameKind
  /** 0 is the transaction's own. */
  readonly depth: number
  /** The caller; of a delegatecall or callcode the contract whose storage is used; the destroyed contract. */
  readonly from: Hex
  /** The contract whose code runs; the created contract; the beneficiary. `undefined` when a creation failed before it had an address. */
  readonly to: Hex | undefined
  /** Of a delegatecall the value of the calling frame; of a self-destruct the balance that moved. */
  readonly value: bigint
  /** Gas given to the call; of the transaction's own frame the gas limit. 0 for a self-destruct. */
  readonly gas: bigint
  /** Of the transaction's own frame the receipt's gas used. */
  readonly gasUsed: bigint
  /** Call data, or init code. */
  readonly input: Uint8Array
  /** Return data, the payload of a REVERT, or the new contract's code. */
  readonly output: Uint8Array
  readonly failure?: FrameFailure
  /** Is the callee a precompiled contract? */
  readonly isPrecompile: boolean
  /** Did bytecode run? Neither for a plain transfer nor for a precompiled contract. */
  readonly ranCode: boolean
  readonly logs: readonly FrameLog[]
  readonly calls: readonly CallFrame[]
}
