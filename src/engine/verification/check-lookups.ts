/** Checks the lookup tables against the blocks: heights, the canonical chain and its tip, transactions; and the pool. */
import type { Hex } from '../../encoding/hex.ts'
import { META } from '../../store/tables.ts'
import { type AuditedTables, firstHeight } from './audited-tables.ts'
import { hasItsSender } from './check-blocks.ts'

/** The checks of the lookups of one database. */
export class LookupChecks {
  readonly #tables: AuditedTables
  /** The last block of the canonical chain. */
  #tip: { readonly height: number; readonly hash: Hex } | undefined

  constructor(tables: AuditedTables) {
    this.#tables = tables
  }

  async checkHeights(): Promise<void> {
    const { heights, headers } = this.#tables
    for await (const [height, hashes] of heights.entries()) {
      if (new Set(hashes).size !== hashes.length) heights.fault(height, 'a block is listed twice', { height })
      for (const hash of hashes) {
        const number = headers.get(hash)?.header.number
        if (number === height) continue
        const problem = `the block ${hash} of this height ${number === undefined ? 'cannot be read' : 'has another'}`
        heights.fault(height, problem, { height })
      }
    }
  }

  /** Checks that the canonical chain is one, from its first block to the tip. */
  async checkCanonical(): Promise<void> {
    const { canonical } = this.#tables
    let next = firstHeight(this.#tables)
    let above: Hex | undefined
    for await (const [height, hash] of canonical.entries()) {
      if (height !== next) canonical.fault(next, 'the height is missing', { height: next })
      this.#checkCanonicalBlock(height, hash, above)
      this.#checkLocations(height, hash)
      above = hash
      next = height + 1
    }
    if (above !== undefined) this.#tip = { height: next - 1, hash: above }
  }

  /** Compares the head with the canonical chain, which is checked before. */
  async checkHead(): Promise<void> {
    const { meta, canonical } = this.#tables
    for await (const [name, found] of meta.entries()) {
      if (name === META.head) {
        if (found === this.#tip?.hash) continue
        const values = { height: this.#tip?.height, expected: this.#tip?.hash, found }
        meta.fault(name, 'the head is not the last block of the canonical chain', values)
      } else if (name === META.loadedGenesis) {
        const height = firstHeight(this.#tables)
        const expected = canonical.get(height)
        if (found === expected) continue
        meta.fault(name, 'it is not the first block of the canonical chain', { height, expected, found })
      } else {
        meta.fault(name, 'no hash has this name', { found })
      }
    }
    if (meta.get(META.head) === undefined) meta.fault(META.head, 'the head is not stored')
  }

  /** Reports entries for transactions that are not there; the others are checked with their blocks. */
  async checkTransactions(): Promise<void> {
    const { transactions, headers, canonical, bodies } = this.#tables
    for await (const [hash, { blockHash, index }] of transactions.entries()) {
      const height = headers.get(blockHash)?.header.number
      const isThere =
        height !== undefined &&
        canonical.get(height) === blockHash &&
        bodies.get(blockHash)?.transactions[index]?.hash === hash
      if (!isThere) {
        transactions.fault(hash, `index ${index} of ${blockHash} is not this transaction`, { height })
      }
    }
  }

  async checkPool(): Promise<void> {
    const { pool } = this.#tables
    for await (const [hash, { transaction }] of pool.entries()) {
      if (transaction.hash !== hash) {
        pool.fault(hash, 'the hash of the transaction differs', {
          expected: hash,
          found: transaction.hash,
        })
      } else if (!hasItsSender(transaction)) {
        pool.fault(hash, 'the transaction is not of the sender that is stored with it', {
          found: transaction.from,
        })
      }
    }
  }

  #checkCanonicalBlock(height: number, hash: Hex, parentHash: Hex | undefined): void {
    const { canonical, headers } = this.#tables
    const header = headers.get(hash)?.header
    if (header === undefined) {
      canonical.fault(height, `its block ${hash} cannot be read`, { height })
    } else if (header.number !== height) {
      const values = { height, expected: String(height), found: String(header.number) }
      canonical.fault(height, `its block ${hash} has another number`, values)
    } else if (parentHash !== undefined && header.parentHash !== parentHash) {
      const values = { height, expected: parentHash, found: header.parentHash }
      canonical.fault(height, 'its block is not the child of the one before', values)
    }
  }

  #checkLocations(height: number, hash: Hex): void {
    const { bodies, transactions } = this.#tables
    for (const [index, transaction] of (bodies.get(hash)?.transactions ?? []).entries()) {
      const location = transactions.get(transaction.hash)
      if (location?.blockHash === hash && location.index === index) continue
      transactions.fault(transaction.hash, 'the transaction is not found where it is', {
        height,
        expected: `index ${index} of ${hash}`,
        found: location === undefined ? 'nothing' : `index ${location.index} of ${location.blockHash}`,
      })
    }
  }
}
