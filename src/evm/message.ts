/** A message to run, the block it runs in, and what comes of it. */
import type { Log } from '../chain/receipt.ts'
import type { Hex } from '../encoding/hex.ts'
import type { AncestorBlock } from './precompiles/table.ts'
import type { Tracer } from './tracing/tracer.ts'

/** `chain` is this chain's own rules; `petersburg` is Ethereum's of that name, for the official state tests only. */
export type RuleSet = 'chain' | 'petersburg'

/** What code can learn of the block that it runs in. Prices in wei per gas, time in unix seconds. */
export interface BlockEnvironment {
  readonly number: number
  readonly timestamp: number
  readonly coinbase: Hex
  readonly difficulty: bigint
  readonly gasLimit: bigint
  /** What BASEFEE answers (RSKIP-412). */
  readonly minimumGasPrice: bigint
  /** 0 is the parent; `undefined` when there is no such block. */
  ancestor(depth: number): AncestorBlock | undefined
  /** Hash of an earlier block of this branch by height; `undefined` when there is none. */
  ancestorHash(height: number): Hex | undefined
}

/** A top-level message. The sender has been charged and its nonce bumped already; `gas` is what is left for running. */
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
}

/** Bounds and surroundings of one run. */
export interface RunOptions {
  /** Milliseconds of wall clock; past them the run throws `limit-exceeded`. Without it a run may take for ever. */
  readonly deadlineMs?: number | undefined
  /** Is it a simulation? Some methods of native contracts answer only then. Default false. */
  readonly isLocal?: boolean
  /**
   * Contracts destroyed by earlier transactions of the block's list; CREATE cannot take their addresses
   * (docs/protocol.md#63-calls-and-creations).
   */
  readonly destroyedEarlier?: ReadonlySet<Hex> | undefined
  /** Hears of frames and, if it wants to, of steps. Logs, self-destructs and steps only in a run of our own loop. */
  readonly tracer?: Tracer | undefined
}

/** What came of a message. State changes and destructions of a message that did not succeed are undone. */
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
  /** Contracts that asked to be destroyed; removing them is the caller's part, at the end of the transaction. */
  readonly destroyed: readonly Hex[]
  /** Did a CALL with value happen? */
  readonly valueCallSeen: boolean
  /** A native contract was called at the top, had enough gas, and failed (docs/protocol.md#failing-precompiles). */
  readonly precompileFailed: boolean
  /** Accounts that the message wrote, for Ethereum's sweep of empty ones; empty under the chain's rules. */
  readonly touched: ReadonlySet<Hex>
  /** Call data that was sent to the console contract, also by frames that failed; absent when there is none. */
  readonly consoleCalls?: readonly Uint8Array[] | undefined
}
