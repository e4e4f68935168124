/**
 * Transactions of the canonical chain by account: by sender and nonce, by everyone who takes part, and the transactions
 * that made contracts. The entries of a block are written and deleted with the block, in its batch.
 */
import type { ExecutedBlock } from '../chain/block.ts'
import { contractAddress } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { ContractOrigin } from './records.ts'
import type { KeyValueReader, Write } from './table.ts'
import { type AccountTables, accountTables } from './tables.ts'

/** The transactions of one block in which an account takes part. */
export interface AccountBlock {
  readonly height: number
  /** Indexes in the block, ascending; `REMASC_INDEX` stands for the REMASC transaction, the last one. */
  readonly indexes: readonly number[]
}

/** In place of the index of the REMASC transaction, so that it can be left out without reading the block. */
export const REMASC_INDEX = 0xffff_ffff

/** Entries that are read at once: a caller wants a page, and an account may be in each block. */
const BLOCKS_AT_ONCE = 64

const HEIGHT_DIGITS = 12
const NONCE_DIGITS = 16
/** Above the height of any block. */
const ABOVE_ALL = 2 ** 48 - 1

function atHeight(prefix: Hex, height: number): Hex {
  return `${prefix}${height.toString(16).padStart(HEIGHT_DIGITS, '0')}`
}

function nonceKey(sender: Hex, nonce: bigint): Hex {
  return `${sender}${nonce.toString(16).padStart(NONCE_DIGITS, '0')}`
}

/** Adds an index to the list of an account; indexes come in ascending order. */
function add(lists: Map<Hex, number[]>, account: Hex, index: number): void {
  const known = lists.get(account)
  if (known === undefined) lists.set(account, [index])
  else if (known.at(-1) !== index) known.push(index)
}

/**
 * The accounts that take part in the transactions of a block. Sender and receiver of the REMASC transaction, which are
 * the same in every block, are left out.
 */
function accountsOf({ block }: IndexedBlock, internals: ExecutedBlock['internals'] = []): Map<Hex, number[]> {
  const lists = new Map<Hex, number[]>()
  let next = 0
  for (const [index, { from, to, nonce, isRemasc }] of block.transactions.entries()) {
    if (!isRemasc) {
      add(lists, from, index)
      add(lists, to ?? contractAddress(from, nonce), index)
    }
    const below = internals[next]
    if (below?.index !== index) continue
    for (const account of below.participants) add(lists, account, isRemasc ? REMASC_INDEX : index)
    next++
  }
  return lists
}

/** The contracts that a block made, each with its last creation. */
function creationsOf(
  { block, receipts }: IndexedBlock,
  internals: ExecutedBlock['internals'] = [],
): Map<Hex, ContractOrigin> {
  const origins = new Map<Hex, ContractOrigin>()
  let next = 0
  for (const [index, { from, to, nonce, hash }] of block.transactions.entries()) {
    if (to === null && receipts[index]?.succeeded) {
      origins.set(contractAddress(from, nonce), { hash, creator: from })
    }
    const below = internals[next]
    if (below?.index !== index) continue
    for (const { contract, creator } of below.creations) origins.set(contract, { hash, creator })
    next++
  }
  return origins
}

/** What the index needs of a block. */
type IndexedBlock = Pick<ExecutedBlock, 'block' | 'receipts'>

/** Entries of one table, each with its key. */
type Entries<V> = readonly (readonly [Hex, V])[]

/** The entries that a canonical block has in the tables. */
export interface AccountEntries {
  readonly senderNonces: Entries<Hex>
  readonly accountBlocks: Entries<readonly number[]>
  readonly creators: Entries<ContractOrigin>
}

/** The entries of a block, with the internals of its execution. */
export function accountEntries(
  executed: IndexedBlock,
  internals: ExecutedBlock['internals'],
): AccountEntries {
  const { header, transactions } = executed.block
  const { number } = header
  const senderNonces: [Hex, Hex][] = []
  for (const { from, nonce, hash, isRemasc } of transactions) {
    if (!isRemasc) senderNonces.push([atHeight(nonceKey(from, nonce), number), hash])
  }
  const accountBlocks: [Hex, readonly number[]][] = []
  for (const [account, indexes] of accountsOf(executed, internals)) {
    accountBlocks.push([atHeight(account, number), indexes])
  }
  const creators: [Hex, ContractOrigin][] = []
  for (const [contract, origin] of creationsOf(executed, internals)) {
    creators.push([atHeight(contract, number), origin])
  }
  return { senderNonces, accountBlocks, creators }
}

/** The height that a key of the tables ends with. */
export function heightOfKey(key: Hex): number {
  return Number.parseInt(key.slice(-HEIGHT_DIGITS), 16)
}

/** The index. Its changes are described and take effect with their batch. */
export class AccountIndex {
  readonly #tables: AccountTables

  constructor(reader: KeyValueReader) {
    this.#tables = accountTables(reader)
  }

  /** Stores the internals of a block, canonical or not. */
  put({ hash, internals = [] }: ExecutedBlock): Write[] {
    return internals.length === 0 ? [] : [this.#tables.internals.put(hash, internals)]
  }

  /** Undoes `put`. */
  forget(hash: Hex): Write {
    return this.#tables.internals.del(hash)
  }

  /** The entries of a block that becomes canonical. */
  extend(executed: ExecutedBlock): Write[] {
    const tables = this.#tables
    const { senderNonces, accountBlocks, creators } = accountEntries(executed, this.internalsOf(executed))
    return [
      ...senderNonces.map(([key, hash]) => tables.senderNonces.put(key, hash)),
      ...accountBlocks.map(([key, indexes]) => tables.accountBlocks.put(key, indexes)),
      ...creators.map(([key, origin]) => tables.creators.put(key, origin)),
    ]
  }

  /** Undoes `extend`; goes before it in a batch that does both. */
  retract(executed: ExecutedBlock): Write[] {
    const tables = this.#tables
    const { senderNonces, accountBlocks, creators } = accountEntries(executed, this.internalsOf(executed))
    return [
      ...senderNonces.map(([key]) => tables.senderNonces.del(key)),
      ...accountBlocks.map(([key]) => tables.accountBlocks.del(key)),
      ...creators.map(([key]) => tables.creators.del(key)),
    ]
  }

  /** The last transaction up to a height with this sender and nonce. */
  async transactionOf(sender: Hex, nonce: bigint, upTo: number): Promise<Hex | undefined> {
    const key = nonceKey(sender, nonce)
    const range = this.#tables.senderNonces.range(atHeight(key, 0), atHeight(key, upTo + 1), true, 1)
    for await (const [, hash] of range) return hash
    return undefined
  }

  /** The last creation of a contract up to a height. */
  async creationOf(contract: Hex, upTo: number): Promise<ContractOrigin | undefined> {
    const range = this.#tables.creators.range(atHeight(contract, 0), atHeight(contract, upTo + 1), true, 1)
    for await (const [, origin] of range) return origin
    return undefined
  }

  /** The blocks from `from` to `to`, both included, with transactions of an account, ascending or descending. */
  async *blocksOf(account: Hex, from: number, to: number, descending: boolean): AsyncGenerator<AccountBlock> {
    let [first, last] = [from, Math.min(to, ABOVE_ALL - 1)]
    for (let isOver = false; !isOver; ) {
      isOver = true
      const bounds = [atHeight(account, first), atHeight(account, last + 1)] as const
      let left = BLOCKS_AT_ONCE
      for await (const [key, indexes] of this.#tables.accountBlocks.range(...bounds, descending, left)) {
        const height = heightOfKey(key)
        yield { height, indexes }
        if (descending) last = height - 1
        else first = height + 1
        isOver = --left > 0
      }
    }
  }

  /** The transactions of an account at one height. */
  indexesAt(account: Hex, height: number): readonly number[] {
    return this.#tables.accountBlocks.get(atHeight(account, height)) ?? []
  }

  /** The internals that a block came with, or those stored for it. */
  internalsOf({ hash, internals }: ExecutedBlock): ExecutedBlock['internals'] {
    return internals ?? this.#tables.internals.get(hash)
  }
}
