/** What a state file holds, as values: accounts, and blocks with what each changed of the state. */

import type { Hex } from '../../encoding/hex.ts'
import type { Block, TransactionInternals } from '../block.ts'
import type { Header } from '../header.ts'
import type { NetworkFile } from '../network.ts'
import type { Receipt } from '../receipt.ts'
import type { RuleTable } from '../rule-table.ts'
import type { Transaction } from '../transaction.ts'

/** Bytes of storage cells by slot; no bytes empty a cell. A word is in its minimal form. */
export type CellBytes = ReadonlyMap<bigint, Uint8Array>

/** An account with all that it holds. */
export interface WholeAccount {
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  /** Is it marked as a contract? Contracts without code are, and so are precompiles. */
  readonly isContract: boolean
  readonly code: Uint8Array
  readonly cells: CellBytes
}

/** An account to load; absent members stay as they are. */
export type PartialAccount = Partial<WholeAccount>

/** The changes of an account; absent members stayed as they were. */
export interface AccountChange {
  readonly nonce: bigint
  readonly balance: bigint
  readonly isContract: boolean
  readonly code?: Uint8Array
  /** Were code and storage dropped first? Then `code` and `cells` are all that it holds. */
  readonly isNew?: true
  readonly cells: CellBytes
}

/** Changed accounts by address; `null` for one that is gone. */
export type StateChangeRecord = ReadonlyMap<Hex, AccountChange | null>

/** A block with its results. */
export interface BlockRecord {
  readonly block: Block
  /** One per transaction. */
  readonly receipts: readonly Receipt[]
  /** Of transactions whose inner calls involved further accounts. */
  readonly internals: readonly TransactionInternals[]
  /** From the state after the parent (for a genesis, an empty state) to the state after the block. */
  readonly changes: StateChangeRecord
  /** State edits after the block; none where there are no accounts in it. */
  readonly edits: StateChangeRecord
}

/** The chain that a state belongs to. */
export interface ChainIdentity {
  /** Name of the network. */
  readonly chain: string
  readonly chainId: number
  /** The definition of a network that is not shipped; absent for one that is. */
  readonly network?: NetworkFile | undefined
  /** Rules with other heights than the network's; absent for none. */
  readonly rules?: RuleTable | undefined
}

/** The head of a dumped chain. */
export interface DumpedHead {
  readonly number: number
  readonly hash: Hex
  /** Root of the state after it, edits included. */
  readonly stateRoot: Hex
}

/** What a state file without history states of the head at the dump, so that a chain can begin there. */
export interface LoadedHead {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
  /** Wei per gas. */
  readonly minimumGasPrice: bigint
}

/** The contract that was verified at an address: of several with equal code it is the one that is shown. */
export interface VerifiedContract {
  readonly address: Hex
  readonly codeHash: Hex
  /** Id. */
  readonly compilation: Hex
  /** Path of its source. */
  readonly file: string
  readonly name: string
}

/** The sources of contracts that a node knows. */
export interface DumpedSources {
  /** Compilations, JSON texts, the oldest first. */
  readonly texts: readonly string[]
  /** By these compilations. */
  readonly verified: readonly VerifiedContract[]
}

/** A dump: the state after the head, and with `history` all canonical blocks from genesis on. */
export interface StateDump extends ChainIdentity {
  /** Hash of block 0. */
  readonly genesis: Hex
  readonly head: DumpedHead
  /** Of the head. */
  readonly header: Header
  /** Each may be iterated once. */
  readonly accounts: Iterable<readonly [Hex, WholeAccount]>
  readonly history?: Iterable<BlockRecord> | undefined
  readonly sources?: DumpedSources | undefined
  /** In the order of arrival; none without history. */
  readonly pool: readonly Transaction[]
  /** State of a parent chain in the node; absent without one, and without history. */
  readonly parent?: Uint8Array | undefined
}
