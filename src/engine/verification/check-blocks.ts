/** Checks headers, bodies and receipts by their hashes and roots, side blocks included. Executes nothing. */
import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import { cumulativeDifficulty, transactionsRoot, unclesHash } from '../../chain/block.ts'
import { mergeBlooms } from '../../chain/bloom.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import { checkProof } from '../../chain/merged-mining/proof.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import { impersonatedSender, senderPublicKey, type Transaction } from '../../chain/transaction.ts'
import { equal } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { brokenRuleOf, messageOf } from '../../errors.ts'
import type { HeaderRecord } from '../../store/records.ts'
import { type AuditedTables, firstHeight } from './audited-tables.ts'

/** The checks of the blocks of one database. */
export class BlockChecks {
  readonly #tables: AuditedTables
  readonly #config: ChainConfig

  constructor(tables: AuditedTables, config: ChainConfig) {
    this.#tables = tables
    this.#config = config
  }

  async checkHeaders(): Promise<void> {
    for await (const [hash, record] of this.#tables.headers.entries()) this.#checkHeader(hash, record)
  }

  async checkBodies(): Promise<void> {
    const { headers, bodies } = this.#tables
    for await (const [hash, { transactions, uncles }] of bodies.entries()) {
      const header = headers.get(hash)?.header
      if (header === undefined) {
        bodies.fault(hash, 'there is no header for this body that can be read')
        continue
      }
      const { number: height } = header
      const root = transactionsRoot(transactions, this.#config.rulesAt(height))
      if (root !== header.transactionsRoot) {
        const values = { height, expected: header.transactionsRoot, found: root }
        bodies.fault(hash, 'the root of the transactions differs', values)
      }
      const hashOfUncles = unclesHash(uncles, this.#config)
      if (hashOfUncles !== header.unclesHash) {
        const values = { height, expected: header.unclesHash, found: hashOfUncles }
        bodies.fault(hash, 'the hash of the uncles differs', values)
      }
      for (const transaction of transactions) {
        if (hasItsSender(transaction)) continue
        const problem = `transaction ${transaction.hash} is not of the sender that is stored with it`
        bodies.fault(hash, problem, { height, found: transaction.from })
      }
    }
  }

  async checkReceipts(): Promise<void> {
    const { headers, receipts } = this.#tables
    for await (const [hash, list] of receipts.entries()) {
      const header = headers.get(hash)?.header
      if (header === undefined) {
        receipts.fault(hash, 'there is no header for these receipts that can be read')
        continue
      }
      const { number: height, receiptsRoot: expected } = header
      // A genesis has no receipts, and the root of an empty trie.
      const found = receiptsRoot(list, this.#config.rulesAt(height))
      if (found !== expected) {
        receipts.fault(hash, 'the root of the receipts differs', { height, expected, found })
      }
      const bloom = mergeBlooms(list.map(({ logsBloom }) => logsBloom))
      if (!equal(bloom, header.logsBloom)) receipts.fault(hash, 'the bloom is not the header’s', { height })
    }
  }

  #checkHeader(hash: Hex, record: HeaderRecord): void {
    const actual = headerHash(record.header, this.#config)
    if (actual !== hash) {
      this.#fault(hash, record, 'the hash of the header differs', { expected: hash, found: actual })
      return
    }
    if (record.header.number !== firstHeight(this.#tables)) this.#checkProof(hash, record)
    this.#checkParts(hash, record)
    this.#checkParent(hash, record)
  }

  /** Reports what is not stored of a block. */
  #checkParts(hash: Hex, record: HeaderRecord): void {
    const { heights, bodies, receipts, nodes } = this.#tables
    const { header, postState } = record
    const fault = (problem: string) => this.#fault(hash, record, problem)
    if (heights.get(header.number)?.includes(hash) !== true)
      fault('the table heights does not list the block')
    if (bodies.get(hash) === undefined) fault('the block has no body that can be read')
    if (receipts.get(hash) === undefined) fault('the block has no receipts that can be read')
    if (postState !== EMPTY_TRIE_ROOT && nodes.get(postState) === undefined) {
      fault('the root of the state after the block is not stored')
    }
  }

  /** Compares number and total difficulty with those of the parent. */
  #checkParent(hash: Hex, record: HeaderRecord): void {
    const { headers, bodies } = this.#tables
    const { header, totalDifficulty } = record
    const { number, parentHash } = header
    const isFirst = number === firstHeight(this.#tables)
    const parent = isFirst ? undefined : headers.get(parentHash)
    if (!isFirst && parent === undefined) this.#fault(hash, record, `its parent ${parentHash} cannot be read`)
    if (parent !== undefined && parent.header.number !== number - 1) {
      const values = { expected: parent.header.number + 1, found: number }
      this.#fault(hash, record, 'its number does not follow its parent', values)
    }
    const uncles = bodies.get(hash)?.uncles
    if (uncles === undefined || (!isFirst && parent === undefined)) return
    const own = cumulativeDifficulty({ header, uncles, transactions: [] })
    const expected = (parent?.totalDifficulty ?? 0n) + own
    if (expected === totalDifficulty) return
    this.#fault(hash, record, 'the total difficulty is wrong', { expected, found: totalDifficulty })
  }

  /** The hash of a header does not cover all of its proof of work. */
  #checkProof(hash: Hex, record: HeaderRecord): void {
    try {
      checkProof(record.header, this.#config)
    } catch (error) {
      const { expected, found } = brokenRuleOf(error) ?? {}
      this.#tables.headers.fault(hash, `the proof of work is broken: ${messageOf(error)}`, {
        height: record.header.number,
        expected,
        found,
      })
    }
  }

  #fault(
    hash: Hex,
    { header }: HeaderRecord,
    problem: string,
    values?: { readonly expected: unknown; readonly found: unknown },
  ): void {
    this.#tables.headers.fault(hash, problem, {
      height: header.number,
      ...(values && { expected: String(values.expected), found: String(values.found) }),
    })
  }
}

/** Is a stored transaction signed by its sender, impersonated as it, or the REMASC transaction? */
export function hasItsSender(transaction: Transaction): boolean {
  if (transaction.isRemasc || impersonatedSender(transaction) === transaction.from) return true
  return senderPublicKey(transaction) !== undefined
}
