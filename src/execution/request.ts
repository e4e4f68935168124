/** Messages to simulate, and what they find in place of the chain's own values. */
import type { TypedFields } from '../chain/transaction-bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { NamedVariables } from './variables.ts'

/**
 * An unsigned message to simulate. Gas in gas, price and value in wei; absent members take this
 * node's defaults (docs/internals/rpc-reference.md#74-calls-and-estimates).
 */
export interface CallRequest {
  readonly from?: Hex
  readonly to?: Hex | null
  readonly gas?: bigint
  readonly gasPrice?: bigint
  readonly value?: bigint
  readonly data?: Uint8Array
  /** Of the transaction (`chain/transaction-types.ts`); legacy when absent. */
  readonly type?: number | undefined
  /** Lists and prices of a typed one. */
  readonly typed?: TypedFields | undefined
}

/** Overrides of one account. `state` replaces all storage, `stateDiff` only the named slots; never both. */
export interface AccountOverride {
  /** Wei. */
  readonly balance?: bigint | undefined
  readonly nonce?: bigint | undefined
  readonly code?: Uint8Array | undefined
  readonly state?: ReadonlyMap<bigint, bigint> | undefined
  readonly stateDiff?: ReadonlyMap<bigint, bigint> | undefined
  /** Written after `code`, `state` and `stateDiff`. */
  readonly variables?: NamedVariables | undefined
  /** Where a precompiled contract runs instead, with the storage that it has; its address is that of a plain account then. */
  readonly movePrecompileToAddress?: Hex | undefined
  /** `code` takes the place of a precompiled contract that is not moved. Without it such an override is refused. */
  readonly replacesPrecompile?: true | undefined
}

/** Fields of a block that replace those it would have. Number and gas in their units, time in Unix seconds, price in wei. */
export interface BlockOverrideValues {
  readonly number?: number
  readonly timestamp?: number
  readonly gasLimit?: bigint
  readonly coinbase?: Hex
  readonly difficulty?: bigint
  /** What BASEFEE answers (RSKIP-412). */
  readonly minimumGasPrice?: bigint
  /** What BLOCKHASH answers, by height; other heights keep their hashes. */
  readonly blockHashes?: ReadonlyMap<number, Hex>
}

/** State overrides of one call, by account, applied in the order given. */
export type StateOverrides = ReadonlyMap<Hex, AccountOverride>

/** What a simulation finds in place of the chain's own values. */
export interface Overrides {
  readonly stateOverrides?: StateOverrides | undefined
  readonly blockOverrides?: BlockOverrideValues | undefined
}

/** What a transaction that is run again finds, and does, in place of what it did in its block. */
export interface ReplayChanges extends Overrides {
  /** In place of its data. */
  readonly input?: Uint8Array | undefined
}
