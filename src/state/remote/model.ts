/** The chain that a fork stands on, as the engine reads it: its blocks, and its state on demand. */

import type { Account } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import type { TopicFilter } from '../../chain/log-filter.ts'
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { NodeError } from '../../errors.ts'
import type { StorageValue } from '../state-keys.ts'

/** The block of the upstream that a fork starts on. */
export interface ForkPoint {
  readonly chainId: number
  readonly number: number
  readonly hash: Hex
}

/** A block by height and hash. */
export interface RemoteBlockId {
  readonly number: number
  readonly hash: Hex
}

/** A part of the upstream's state at a block. */
export type StateItem =
  /** Nonce, balance and code. */
  | { readonly kind: 'account'; readonly address: Hex }
  | { readonly kind: 'cell'; readonly address: Hex; readonly slot: bigint }

/** A message for the upstream to run. Gas in gas, price and value in wei. */
export interface RemoteCall {
  readonly from?: Hex
  /** `null` or absent: creates a contract. */
  readonly to?: Hex | null
  readonly gas?: bigint
  readonly gasPrice?: bigint
  readonly value?: bigint
  readonly data?: Uint8Array
}

/** The state of one block of the upstream. Reads are synchronous, out of what was fetched or cached. */
export interface RemoteState {
  readonly block: RemoteBlockId
  /** `undefined`: not fetched; `{ account: undefined }`: does not exist. The code of a fetched account is fetched too. */
  account(address: Hex): { readonly account: Account | undefined } | undefined
  /** `undefined`: not fetched; 0 where it is empty. */
  cell(address: Hex, slot: bigint): StorageValue | undefined
  /** `undefined`: not fetched. The same array each time for the same hash. */
  code(codeHash: Hex): Uint8Array | undefined
  /**
   * Fetches all items that are not in memory, in as few requests as the upstream's limits allow. With them it asks for
   * `ahead`, what may be needed next, unless the upstream refuses that or nothing else is missing. Throws a NodeError.
   */
  fetch(items: readonly StateItem[], ahead?: readonly StateItem[]): Promise<void>
  /** What a call will touch, by the upstream's access list or prestate tracer; empty where it serves neither. */
  hint(call: RemoteCall): Promise<readonly StateItem[]>
  /** The output of a call run by the upstream at this block. Throws a NodeError: `reverted` where the call reverts. */
  call(call: RemoteCall): Promise<Uint8Array>
}

/** A header with its hash. */
export interface RemoteHeader {
  readonly header: Header
  /** Is the hash that of the header's bytes? Always so of this family; of another one where its members are known. */
  readonly isVerified: boolean
  readonly hash: Hex
  /** Difficulty summed from genesis. */
  readonly totalDifficulty: bigint
}

/** Where a transaction stands in the upstream's chain, at or before the fork point. */
export interface RemoteLocation {
  readonly block: RemoteBlockId
  readonly index: number
}

/** Logs of the upstream's chain; a range ends at the fork point at the latest. */
export interface RemoteLogQuery {
  readonly range: { readonly from: number; readonly to: number } | { readonly blockHash: Hex }
  readonly addresses: readonly Hex[]
  readonly topics: TopicFilter
}

/** A log and its place. */
export interface RemoteLog {
  readonly log: Log
  readonly block: RemoteBlockId
  /** Of the block, Unix seconds, where the upstream states it. */
  readonly timestamp?: number | undefined
  readonly transactionHash: Hex
  readonly transactionIndex: number
  /** Index in the block. */
  readonly logIndex: number
}

/** What is known of the upstream. */
export interface Upstream {
  /** The URL that answered first, without user, password, path and query, which may hold a key. */
  readonly origin: string
  /** What web3_clientVersion answers. */
  readonly client: string
  /** Does it run this family's chain: headers with merged mining, this gas schedule? */
  readonly isSameFamily: boolean
}

/** Counts of what was sent upstream, since this process began. */
export interface RemoteUsage {
  /** HTTP requests, repeated ones included. */
  readonly requests: number
  /** Calls in them, repeated ones included. */
  readonly calls: number
  /** Answers without a usable result that were asked for again. */
  readonly retries: number
  /** Refusals for too many requests. */
  readonly rateLimited: number
  /** HTTP requests without a usable answer, refusals for too many among them. */
  readonly failures: number
  /** From each HTTP request to its answer, or to where it was given up. */
  readonly milliseconds: number
  /** Calls of the last 24 hours; a hosted key has a daily quota. */
  readonly callsToday: number
  /** Most calls of 24 hours; 0 is no limit. */
  readonly callsPerDay: number
  /** Items found in the cache, and fetched because they were not there. */
  readonly cacheHits: number
  readonly cacheMisses: number
}

/**
 * The upstream's chain up to the fork point. Everything that is returned has been verified: header bytes hash to the
 * hash asked for, proofs of work hold, headers of adjacent heights are linked, transactions, uncles and receipts have the
 * roots of their header. Of an upstream of another family headers whose members are Ethereum's hash to their hash, and transactions and
 * receipts of Ethereum's types have the roots of such a header; otherwise only the form of the fields is checked, with one
 * notice, and of logs over a range that they match the query. Methods throw a NodeError where the upstream cannot be asked; `undefined` means that its
 * chain has no such thing.
 */
export interface RemoteChain {
  readonly point: ForkPoint
  readonly upstream: Upstream
  /** Constants and rules of the upstream's network; for an unknown chain id, those of regtest with that id. */
  readonly config: ChainConfig
  /** The block of the fork point. */
  readonly head: ExecutedBlock
  /** The transaction whose block's parent is the fork point, where the fork was chosen by it: its block, and its index there. */
  readonly transaction?: { readonly block: ExecutedBlock; readonly index: number }
  /** The state after a block. */
  stateAt(block: RemoteBlockId): RemoteState
  /** The hash of a canonical block at or below the fork point as far as it is known in memory. */
  knownHash(number: number): Hex | undefined
  /** Headers at or below the fork point. */
  headerByNumber(number: number): Promise<RemoteHeader | undefined>
  headerByHash(hash: Hex): Promise<RemoteHeader | undefined>
  /** A canonical block with transactions, uncles and receipts; `postState` is the state root of its header. */
  blockByHash(hash: Hex): Promise<ExecutedBlock | undefined>
  blockByNumber(number: number): Promise<ExecutedBlock | undefined>
  transactionLocation(hash: Hex): Promise<RemoteLocation | undefined>
  /** In order; ranges are split by the upstream's limits. */
  logs(query: RemoteLogQuery): Promise<readonly RemoteLog[]>
  /** The result of any method of the upstream, unverified. Throws a NodeError with its error message. */
  request(method: string, params: readonly unknown[]): Promise<unknown>
  /** Is the fork point still on the upstream's canonical chain? */
  isPointCanonical(): Promise<boolean>
  /** The URLs to ask from now on; the chain id and the fork point's block must be the same there. */
  setUrls(urls: readonly string[]): Promise<void>
  /**
   * How long a command that blocks the queue should wait for an answer, milliseconds: 0 while the upstream fails, or a request
   * takes longer than it should.
   */
  waitLimit(): number
  /** Why an open request has no answer yet; `undefined` where no request is open, or nothing is wrong. */
  delay(): NodeError | undefined
  usage(): RemoteUsage
  /** Ends open requests and writes what the cache has not written yet. */
  close(): Promise<void>
}
