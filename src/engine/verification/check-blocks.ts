/** Checks headers, bodies and receipts by their hashes and roots, the blocks beside the chain included. Executes nothing. */
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
import { brokenRuleOf } from '../../errors.ts'
import type { HeaderRecord } from '../../store/records.ts'
import { type AuditedTables, firstHeight } from './audited-tables.ts'

/** Makes the checks of one block's entries. */
export function createBlockChecks(tables: AuditedTables, config: ChainConfig) {
  const { headers, bodies, receipts, heights, nodes } = tables

  function checkHeader(hash: Hex, { header, totalDifficulty, postState }: HeaderRecord): void {
    const { number, parentHash } = header
    const isFirst = number === firstHeight(tables)
    const fault = (problem: string, expected?: unknown, found?: unknown) =>
      headers.fault(hash, problem, {
        height: number,
        ...(expected !== undefined && { expected: String(expected), found: String(found) }),
      })
    const actual = headerHash(header, config)
    if (actual !== hash) {
      fault('the hash of the header is another', hash, actual)
      return
    }
    if (!isFirst) checkProofOf(hash, { header, totalDifficulty, postState })
    if (heights.get(number)?.includes(hash) !== true) fault('the table heights does not list the block')
    if (bodies.get(hash) === undefined) fault('the block has no body that can be read')
    if (receipts.get(hash) === undefined) fault('the block has no receipts that can be read')
    if (postState !== EMPTY_TRIE_ROOT && nodes.get(postState) === undefined)
      fault('the root of the state after the block is not stored')
    const parent = isFirst ? undefined : headers.get(parentHash)
    if (!isFirst && parent === undefined) fault(`its parent ${parentHash} cannot be read`)
    if (parent !== undefined && parent.header.number !== number - 1) {
      fault('its number does not follow its parent', parent.header.number + 1, number)
    }
    const uncles = bodies.get(hash)?.uncles
    if (uncles === undefined || (!isFirst && parent === undefined)) return
    const own = cumulativeDifficulty({ header, uncles, transactions: [] })
    const expected = (parent?.totalDifficulty ?? 0n) + own
    if (expected !== totalDifficulty) fault('the total difficulty is wrong', expected, totalDifficulty)
  }

  /** The hash of a header does not cover all of its proof of work. */
  function checkProofOf(hash: Hex, { header }: HeaderRecord): void {
    try {
      checkProof(header, config)
    } catch (error) {
      const { expected, found } = brokenRuleOf(error) ?? {}
      const problem = error instanceof Error ? error.message : String(error)
      headers.fault(hash, `the proof of work is broken: ${problem}`, {
        height: header.number,
        expected,
        found,
      })
    }
  }

  async function checkHeaders(): Promise<void> {
    for await (const [hash, record] of headers.entries()) checkHeader(hash, record)
  }

  async function checkBodies(): Promise<void> {
    for await (const [hash, { transactions, uncles }] of bodies.entries()) {
      const header = headers.get(hash)?.header
      if (header === undefined) {
        bodies.fault(hash, 'there is no header for this body that can be read')
        continue
      }
      const { number: height } = header
      const root = transactionsRoot(transactions, config.rulesAt(height))
      if (root !== header.transactionsRoot) {
        const values = { height, expected: header.transactionsRoot, found: root }
        bodies.fault(hash, 'the root of the transactions is another', values)
      }
      const hashOfUncles = unclesHash(uncles, config)
      if (hashOfUncles !== header.unclesHash) {
        const values = { height, expected: header.unclesHash, found: hashOfUncles }
        bodies.fault(hash, 'the hash of the uncles is another', values)
      }
      for (const transaction of transactions) {
        if (hasItsSender(transaction)) continue
        const problem = `transaction ${transaction.hash} is not of the sender that is stored with it`
        bodies.fault(hash, problem, { height, found: transaction.from })
      }
    }
  }

  async function checkReceipts(): Promise<void> {
    for await (const [hash, list] of receipts.entries()) {
      const header = headers.get(hash)?.header
      if (header === undefined) {
        receipts.fault(hash, 'there is no header for these receipts that can be read')
        continue
      }
      const { number: height, receiptsRoot: expected } = header
      // A genesis has no receipts, and the root of an empty trie.
      const found = receiptsRoot(list, config.rulesAt(height))
      if (found !== expected) {
        receipts.fault(hash, 'the root of the receipts is another', { height, expected, found })
      }
      const bloom = mergeBlooms(list.map(({ logsBloom }) => logsBloom))
      if (!equal(bloom, header.logsBloom)) receipts.fault(hash, 'the bloom is not the header’s', { height })
    }
  }

  return { checkHeaders, checkBodies, checkReceipts }
}

/** Is a stored transaction signed by its sender, impersonated as it, or the REMASC transaction? */
export function hasItsSender(transaction: Transaction): boolean {
  if (transaction.isRemasc || impersonatedSender(transaction) === transaction.from) return true
  return senderPublicKey(transaction) !== undefined
}
