/** What a comparison of rules reports. Plain data, separate from the code that computes it. */
import type { Log } from '../chain/receipt.ts'
import type { Hex } from '../encoding/hex.ts'
import type { EthereumFork } from './ethereum-forks.ts'
import type { GasByGroup } from './gas-groups.ts'
import type { Step } from './step-list.ts'

/** The outcome of the transaction under one set of rules. Gas in gas. */
export interface ComparisonSide {
  /** `rejected`: no block can include it. */
  readonly status: 'succeeded' | 'reverted' | 'failed' | 'rejected'
  /** Absent when it succeeded. */
  readonly reason?: string
  /** After the refund. */
  readonly gasUsed: bigint
  readonly refund: bigint
  /** They add up to gas used and refund. */
  readonly gas: GasByGroup
  readonly output: Uint8Array
  readonly logs: readonly Log[]
  readonly created?: Hex
}

/** An opcode in a report; one that the rules do not define is INVALID. */
export interface NamedStep extends Omit<Step, 'failed'> {
  /** By the names of the rules concerned. */
  readonly name: string
}

/** The first opcode with another price, before the two executions diverge. */
export interface PriceDifference {
  /** How many opcodes ran before it. */
  readonly index: number
  readonly address: Hex
  readonly chain: NamedStep
  readonly ethereum: NamedStep
}

/** Where the executions diverge: another opcode, another program counter or depth, or one side has ended. */
export interface Divergence {
  readonly index: number
  readonly chain?: NamedStep
  readonly ethereum?: NamedStep
}

/** Both sides. */
export interface RuleComparison {
  readonly fork: EthereumFork
  readonly chain: ComparisonSide
  readonly ethereum: ComparisonSide
  /** Same status and output. */
  readonly sameResult: boolean
  readonly sameLogs: boolean
  readonly firstPriceDifference?: PriceDifference
  readonly divergence?: Divergence
  /** The whole block under Ethereum's rules; absent when it was not run, or not within the time limit. */
  readonly ethereumBlock?: EthereumBlock
}

/** The chain's rules and other rules of this chain. */
export interface RuleSetComparison {
  readonly chain: ComparisonSide
  readonly other: ComparisonSide
  /** Same status and output. */
  readonly sameResult: boolean
  readonly sameLogs: boolean
  /** The first opcode with another price, before the two executions diverge. */
  readonly firstPriceDifference?: {
    readonly index: number
    readonly chain: NamedStep
    readonly other: NamedStep
  }
  readonly divergence?: { readonly index: number; readonly chain?: NamedStep; readonly other?: NamedStep }
}

/** A transaction that Ethereum would not include in the block. */
export interface RejectedTransaction {
  readonly hash: Hex
  readonly reason: string
}

/** The block that Ethereum's rules make of the transactions. */
export interface EthereumBlock {
  /** How many transactions it includes. */
  readonly included: number
  /** Transactions left out, in order. */
  readonly rejected: readonly RejectedTransaction[]
  /** Gas of the transactions included. */
  readonly gasUsed: bigint
  /** Root of the Merkle Patricia trie of the transactions included (Yellow Paper 4.4). */
  readonly transactionsRoot: Hex
  /** Root of the Merkle Patricia trie of their receipts, which hold status, cumulative gas, bloom and logs (EIP-658). */
  readonly receiptsRoot: Hex
}
