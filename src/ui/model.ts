/** Results of the node's methods as the pages use them (docs/methods/README.md has all members). */
import type { Hex } from './format.ts'

/** The header in `eth_getBlockByNumber`. */
export interface Header {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly miner: Hex
  readonly gasUsed: Hex
  readonly gasLimit: Hex
  readonly difficulty: Hex
  readonly totalDifficulty: Hex
  readonly size: Hex
  readonly minimumGasPrice: Hex
  readonly paidFees: Hex
  readonly stateRoot: Hex
  readonly receiptsRoot: Hex
  readonly transactionsRoot: Hex
  readonly sha3Uncles: Hex
  readonly logsBloom: Hex
  readonly extraData: Hex
  readonly bitcoinMergedMiningHeader: Hex
  readonly bitcoinMergedMiningCoinbaseTransaction: Hex
  readonly bitcoinMergedMiningMerkleProof: Hex
  readonly hashForMergedMining: Hex
  readonly cumulativeDifficulty: Hex
}

/** `eth_getTransactionByHash`. */
export interface Transaction {
  readonly hash: Hex
  readonly nonce: Hex
  readonly blockHash: Hex | null
  readonly blockNumber: Hex | null
  readonly transactionIndex: Hex | null
  readonly from: Hex
  readonly to: Hex | null
  readonly gas: Hex
  readonly gasPrice: Hex
  readonly value: Hex
  readonly input: Hex
}

/** `eth_getBlockByNumber` with the hashes of the transactions, or with the transactions. */
export interface Block<Entry = Hex> extends Header {
  readonly transactions: readonly Entry[]
  readonly uncles: readonly Hex[]
  /** Transactions that other answers leave out (`--hide-remasc`). */
  readonly hiddenTransactions?: readonly Hex[]
}

/** A log of `eth_getTransactionReceipt`. */
export interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: Hex
  readonly blockNumber: Hex
  readonly transactionHash: Hex
}

/** `eth_getTransactionReceipt`. */
export interface Receipt {
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly blockHash: Hex
  readonly blockNumber: Hex
  readonly from: Hex
  readonly to: Hex | null
  readonly status: Hex
  readonly gasUsed: Hex
  readonly cumulativeGasUsed: Hex
  readonly effectiveGasPrice: Hex
  readonly contractAddress: Hex | null
  readonly logs: readonly Log[]
}

/** A notification of `eth_subscribe("chain")`: how the canonical chain changed. */
export interface ChainChange {
  readonly number: Hex
  readonly hash: Hex
  /** Height of the last block that both chains have. */
  readonly ancestor: Hex
  readonly removed: readonly Hex[]
  readonly added: readonly Hex[]
}

/** The part of an OpenRPC document that pages use. */
export interface OpenRpc {
  readonly methods: readonly OpenRpcMethod[]
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> }
}

/** A method of the document. */
export interface OpenRpcMethod {
  readonly name: string
  readonly summary?: string
  readonly params: readonly {
    readonly name: string
    readonly required?: boolean
    readonly description?: string
    readonly schema: unknown
  }[]
  readonly result?: { readonly name: string; readonly schema: unknown }
}
