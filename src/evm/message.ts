/** A message to run, the block it runs in, and its result. */
import type { Creation } from '../chain/block.ts'
import type { Log } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { AncestorBlock, Precompile } from './precompiles/precompile.ts'
import type { Tracer } from './tracing/tracer.ts'

/** Most gas of a message: frames count gas in safe integers. */
export const MAX_GAS = BigInt(Number.MAX_SAFE_INTEGER)

/** The block that code runs in, as far as code can read it. Prices in wei per gas, time in unix seconds. */
export interface BlockEnvironment {
  readonly number: number
  readonly timestamp: number
  readonly coinbase: Hex
  readonly difficulty: bigint
  readonly gasLimit: bigint
  /** What BASEFEE answers (RSKIP-412). */
  readonly minimumGasPrice: bigint
  /** The precompiled contracts by address, where they are not those of the height: a simulation may move them. */
  readonly precompiles?: ReadonlyMap<Hex, Precompile> | undefined
  /** 0 is the parent; `undefined` when there is no such block. */
  ancestor(depth: number): AncestorBlock | undefined
  /** Hash of an earlier block of this branch by height; `undefined` when there is none. */
  ancestorHash(height: number): Hex | undefined
}

/**
 * A top-level message. The sender is charged and its nonce increased already; `gas` is left for running, at most
 * MAX_GAS.
 */
export interface Message {
  readonly from: Hex
  /** `null` creates a contract. */
  readonly to: Hex | null
  /** Wei; the sender must have it. */
  readonly value: bigint
  readonly data: Uint8Array
  readonly gas: bigint
  /** Wei per gas. */
  readonly gasPrice: bigint
  readonly origin: Hex
  /** The signed transaction that the message is of; absent in a simulation. */
  readonly transaction?: Transaction | undefined
}

/** Limits and context of one run. */
export interface RunOptions {
  /** Milliseconds of wall clock; past them the run throws `limit-exceeded`. Without it a run may take for ever. */
  readonly deadlineMs?: number | undefined
  /** Is it a simulation? Some methods of precompiled contracts succeed only then. Default false. */
  readonly isLocal?: boolean
  /**
   * Contracts destroyed by earlier transactions of the block's list; CREATE cannot take their addresses
   * (docs/internals/protocol.md#63-calls-and-creations).
   */
  readonly destroyedEarlier?: ReadonlySet<Hex> | undefined
  readonly tracer?: Tracer | undefined
  /** Place of the transaction in its block, which code could read before RSKIP-191. Default 0. */
  readonly transactionIndex?: number | undefined
}

/** The result of a message. State changes and destructions of a message that did not succeed are undone. */
export interface MessageResult {
  readonly status: 'succeeded' | 'reverted' | 'failed'
  /** Why it failed: "out of gas", "invalid opcode", …; absent unless `status` is `failed`. */
  readonly failure?: string | undefined
  /** Returned bytes, or the revert payload; empty when failed. Of a creation: the new code. */
  readonly output: Uint8Array
  /** Gas used by the run, refund not yet taken off; intrinsic gas is not in it. */
  readonly gasUsed: bigint
  /** Gas to give back, not yet capped; 0 unless succeeded. */
  readonly refund: bigint
  readonly logs: readonly Log[]
  /** Address of the new contract, also when its creation failed. */
  readonly created?: Hex | undefined
  /** Contracts that executed SELFDESTRUCT; the caller deletes them at the end of the transaction. */
  readonly destroyed: readonly Hex[]
  /** Accounts of the calls, creations and self-destructs below the top frame, also of frames that failed; absent when there are none. */
  readonly participants?: ReadonlySet<Hex> | undefined
  /** Contracts made below the top frame. */
  readonly creations?: readonly Creation[]
  /** Did a CALL with value happen? */
  readonly valueCallSeen: boolean
  /** The transaction itself called a precompiled contract, which had enough gas and failed (docs/internals/protocol.md#failing-precompiles). */
  readonly precompileFailed: boolean
  /** Call data to the console contract, also of frames that failed; absent when there is none. */
  readonly consoleCalls?: readonly Uint8Array[] | undefined
}
