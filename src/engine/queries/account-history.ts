/** Transactions of the canonical chain by account: by sender and nonce, by everyone who takes part, and of contracts the creation. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { type AccountBlock, REMASC_INDEX } from '../../store/account-index.ts'
import type { ContractOrigin } from '../../store/records.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { TransactionView } from '../model.ts'
import type { Lookup } from './lookup.ts'

/** The sender that REMASC transactions show. */
const ZERO_ADDRESS: Hex = '0x0000000000000000000000000000000000000000'
/** How often a query starts again after a reorganisation. */
const MOST_RESTARTS = 3

/** Selects transactions of an account on one side of a height; without a height from the end of the chain. */
export interface AccountQuery {
  readonly account: Hex
  readonly direction: 'before' | 'after'
  /** Not itself included. */
  readonly height: number | undefined
  /** Blocks are added until there are so many transactions. */
  readonly count: number
  /** Leave out REMASC transactions. */
  readonly hideRemasc: boolean
}

/** Transactions of an account, newest first; those of one block are always together. */
export interface AccountPage {
  readonly transactions: readonly { readonly block: ExecutedBlock; readonly index: number }[]
  /** Is there none newer than the page? */
  readonly isFirst: boolean
  /** Is there none older than the page? */
  readonly isLast: boolean
}

/** Queries that take the same time whatever the length of the chain. All read at one head. */
export interface AccountHistory {
  /** A mined transaction; `undefined` when there is none. */
  transactionBySenderAndNonce(sender: Hex, nonce: bigint): Promise<TransactionView | undefined>
  /** The last creation of a contract; `undefined` for any other account. */
  contractOrigin(contract: Hex): Promise<ContractOrigin | undefined>
  /**
   * Transactions that an account sent or received, that made it, or with a call, creation or self-destruct from it or to
   * it, failed ones included.
   */
  accountTransactions(query: AccountQuery): Promise<AccountPage>
}

type Parts = Pick<ChainAccess, 'blockchain' | 'blocks'> & { readonly transaction: Lookup['transaction'] }

/** Makes the queries. */
export function createAccountHistory({ blockchain, blocks, transaction }: Parts): AccountHistory {
  const { accounts } = blocks

  /** Reads at one head: again when a reorganisation removes it meanwhile. */
  async function atOneHead<T>(read: (head: number) => Promise<T>): Promise<T> {
    for (let restarts = 0; ; restarts++) {
      const { hash, block } = blockchain.head
      const found = await read(block.header.number)
      if (blockchain.isCanonical(hash) === true || restarts === MOST_RESTARTS) return found
    }
  }

  function blockAt(height: number): ExecutedBlock | undefined {
    const hash = blockchain.hashAt(height)
    return hash === undefined ? undefined : blocks.get(hash)
  }

  /** Sender and receiver of the REMASC transaction, which ends every block: the index leaves them out. */
  async function* everyBlock(
    account: Hex,
    from: number,
    to: number,
    descending: boolean,
  ): AsyncGenerator<AccountBlock> {
    for (let step = 0; step <= to - from; step++) {
      const height = descending ? to - step : from + step
      const others = accounts.indexesAt(account, height).filter((index) => index !== REMASC_INDEX)
      yield { height, indexes: [...others, REMASC_INDEX] }
    }
  }

  /** From `from` to `to`, both included. */
  async function* blocksOf(
    query: AccountQuery,
    from: number,
    to: number,
    descending: boolean,
  ): AsyncGenerator<AccountBlock> {
    const { account, hideRemasc } = query
    if (from > to) return
    const isOfRemasc = account === PRECOMPILE_ADDRESS.remasc || account === ZERO_ADDRESS
    if (!hideRemasc) {
      yield* isOfRemasc
        ? everyBlock(account, from, to, descending)
        : accounts.blocksOf(account, from, to, descending)
      return
    }
    for await (const { height, indexes } of accounts.blocksOf(account, from, to, descending)) {
      const shown = indexes.filter((index) => index !== REMASC_INDEX)
      if (shown.length > 0) yield { height, indexes: shown }
    }
  }

  async function hasAny(query: AccountQuery, from: number, to: number): Promise<boolean> {
    for await (const _ of blocksOf(query, from, to, false)) return true
    return false
  }

  async function page(query: AccountQuery, head: number): Promise<AccountPage> {
    const { direction, height, count } = query
    const isBefore = direction === 'before'
    const [from, to] = isBefore
      ? [1, Math.min(head, (height ?? head + 1) - 1)]
      : [Math.min(head, height ?? 0) + 1, head]
    const found: { block: ExecutedBlock; index: number }[] = []
    let more = false
    for await (const entry of blocksOf(query, from, to, isBefore)) {
      more = found.length >= count
      const block = more ? undefined : blockAt(entry.height)
      if (more) break
      if (block === undefined) continue
      const last = block.block.transactions.length - 1
      const indexes = entry.indexes.map((index) => Math.min(index, last))
      for (const index of isBefore ? indexes.reverse() : indexes) found.push({ block, index })
    }
    const beyond = isBefore ? await hasAny(query, to + 1, head) : await hasAny(query, 1, from - 1)
    return {
      transactions: isBefore ? found : found.reverse(),
      isFirst: !(isBefore ? beyond : more),
      isLast: !(isBefore ? more : beyond),
    }
  }

  return {
    async transactionBySenderAndNonce(sender, nonce) {
      const hash = await atOneHead((head) => accounts.transactionOf(sender, nonce, head))
      return hash === undefined ? undefined : transaction(hash)
    },
    contractOrigin: (contract) => atOneHead((head) => accounts.creationOf(contract, head)),
    accountTransactions: (query) => atOneHead((head) => page(query, head)),
  }
}
