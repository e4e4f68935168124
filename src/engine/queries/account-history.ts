/** Transactions of the canonical chain by account: by sender and nonce, by participant, and the creations of contracts. */
import { ZERO_ADDRESS } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { type AccountBlock, REMASC_INDEX } from '../../store/account-index.ts'
import type { ContractOrigin } from '../../store/records.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { MinedTransaction } from '../model.ts'
import { atOneHead } from './at-one-head.ts'
import type { Lookup } from './lookup.ts'

/** Selects transactions of an account on one side of a height; without a height from the end of the chain. */
export interface AccountQuery {
  readonly account: Hex
  readonly direction: 'before' | 'after'
  /** Exclusive. */
  readonly height: number | undefined
  /** Number of transactions after which no further block is added. */
  readonly count: number
  /** Leave out REMASC transactions. */
  readonly hideRemasc: boolean
}

/** Transactions of an account, newest first; those of one block are always together. */
export interface AccountPage {
  readonly transactions: readonly { readonly block: ExecutedBlock; readonly index: number }[]
  /** Whether no transaction is newer than the page. */
  readonly isFirst: boolean
  /** Whether no transaction is older than the page. */
  readonly isLast: boolean
}

/** Queries that take the same time whatever the length of the chain. All read at one head. */
export interface AccountHistory {
  /** A mined transaction; `undefined` when there is none. */
  transactionBySenderAndNonce(sender: Hex, nonce: bigint): Promise<MinedTransaction | undefined>
  /** The last creation of a contract; `undefined` for any other account. */
  contractOrigin(contract: Hex): Promise<ContractOrigin | undefined>
  /**
   * Transactions that an account sent or received, that made it, or with a call, creation or self-destruct from it or to
   * it, failed ones included.
   */
  accountTransactions(query: AccountQuery): Promise<AccountPage>
}

type Parts = Pick<ChainAccess, 'blockchain' | 'blocks'> & Pick<Lookup, 'minedTransaction'>

/** Blocks in the order in which a query goes through them. */
interface HeightRange {
  readonly from: number
  /** Inclusive. */
  readonly to: number
  readonly isDescending: boolean
}

/** The queries of one chain. */
export class ChainAccountHistory implements AccountHistory {
  readonly #blockchain: Parts['blockchain']
  readonly #blocks: Parts['blocks']
  readonly #minedTransaction: Parts['minedTransaction']

  constructor({ blockchain, blocks, minedTransaction }: Parts) {
    this.#blockchain = blockchain
    this.#blocks = blocks
    this.#minedTransaction = minedTransaction
  }

  async transactionBySenderAndNonce(sender: Hex, nonce: bigint): Promise<MinedTransaction | undefined> {
    const { accounts } = this.#blocks
    const hash = await atOneHead(this.#blockchain, (head) => accounts.transactionOf(sender, nonce, head))
    return hash === undefined ? undefined : this.#minedTransaction(hash)
  }

  contractOrigin(contract: Hex): Promise<ContractOrigin | undefined> {
    return atOneHead(this.#blockchain, (head) => this.#blocks.accounts.creationOf(contract, head))
  }

  accountTransactions(query: AccountQuery): Promise<AccountPage> {
    return atOneHead(this.#blockchain, (head) => this.#page(query, head))
  }

  async #page(query: AccountQuery, head: number): Promise<AccountPage> {
    const { direction, height, count } = query
    const isBefore = direction === 'before'
    const [from, to] = isBefore
      ? [1, Math.min(head, (height ?? head + 1) - 1)]
      : [Math.min(head, height ?? 0) + 1, head]
    const found: { block: ExecutedBlock; index: number }[] = []
    let more = false
    for await (const entry of this.#blocksOf(query, { from, to, isDescending: isBefore })) {
      more = found.length >= count
      if (more) break
      const block = this.#blockAt(entry.height)
      if (block === undefined) continue
      const last = block.block.transactions.length - 1
      const indexes = entry.indexes.map((index) => Math.min(index, last))
      for (const index of isBefore ? indexes.reverse() : indexes) found.push({ block, index })
    }
    const beyond = isBefore ? await this.#hasAny(query, to + 1, head) : await this.#hasAny(query, 1, from - 1)
    return {
      transactions: isBefore ? found : found.reverse(),
      isFirst: !(isBefore ? beyond : more),
      isLast: !(isBefore ? more : beyond),
    }
  }

  async #hasAny(query: AccountQuery, from: number, to: number): Promise<boolean> {
    for await (const _ of this.#blocksOf(query, { from, to, isDescending: false })) return true
    return false
  }

  async *#blocksOf({ account, hideRemasc }: AccountQuery, range: HeightRange): AsyncGenerator<AccountBlock> {
    const { from, to, isDescending } = range
    if (from > to) return
    const indexed = this.#blocks.accounts.blocksOf(account, from, to, isDescending)
    if (!hideRemasc) {
      const isOfRemasc = account === PRECOMPILE_ADDRESS.remasc || account === ZERO_ADDRESS
      yield* isOfRemasc ? this.#everyBlock(account, range) : indexed
      return
    }
    for await (const { height, indexes } of indexed) {
      const shown = indexes.filter((index) => index !== REMASC_INDEX)
      if (shown.length > 0) yield { height, indexes: shown }
    }
  }

  /** The index leaves out sender and receiver of the REMASC transaction, which ends every block. */
  async *#everyBlock(account: Hex, { from, to, isDescending }: HeightRange): AsyncGenerator<AccountBlock> {
    const { accounts } = this.#blocks
    for (let step = 0; step <= to - from; step++) {
      const height = isDescending ? to - step : from + step
      const others = accounts.indexesAt(account, height).filter((index) => index !== REMASC_INDEX)
      yield { height, indexes: [...others, REMASC_INDEX] }
    }
  }

  #blockAt(height: number): ExecutedBlock | undefined {
    const hash = this.#blockchain.hashAt(height)
    return hash === undefined ? undefined : this.#blocks.get(hash)
  }
}
