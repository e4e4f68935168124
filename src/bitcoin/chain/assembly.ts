/** Builds blocks of the mempool's transactions. */

import { fromDisplayed } from '../displayed-hash.ts'
import type { Output, Transaction } from '../transaction.ts'
import { virtualBytes } from './acceptance.ts'
import { type Block, transactionsRoot } from './block.ts'
import { coinbaseOf } from './coinbase.ts'
import { mined } from './header.ts'
import { ancestorsOf, entriesInOrder } from './mempool.ts'
import { MAX_CHECKS_COST, MAX_WEIGHT, REGTEST, subsidyAt } from './regtest.ts'
import { bestBlock, type ChainState, type MempoolEntry, medianTime } from './state.ts'

/** Weight and checks that are kept for header and coinbase. */
const RESERVED = { weight: 8000, checks: 400 } as const
/** BIP-9: no deployment is signalled. */
const BLOCK_VERSION = 0x20000000

/** The rate of an entry together with all that it depends on. */
function packageRate(state: ChainState, entry: MempoolEntry): number {
  const all = [...ancestorsOf(state, entry.transaction), entry]
  const fee = all.reduce((sum, one) => sum + one.fee, 0n)
  const bytes = all.reduce((sum, one) => sum + virtualBytes(one), 0)
  return Number(fee) / bytes
}

/** The entries of the next block, parents before children: those that pay best, counting what they depend on. */
function selectEntries(state: ChainState): readonly MempoolEntry[] {
  const rated = entriesInOrder(state).map((entry) => ({ entry, rate: packageRate(state, entry) }))
  rated.sort((a, b) => b.rate - a.rate || a.entry.arrival - b.entry.arrival)
  const chosen = new Map<string, MempoolEntry>()
  let weight: number = RESERVED.weight
  let checks: number = RESERVED.checks
  for (const { entry } of rated) {
    const missing = [...ancestorsOf(state, entry.transaction), entry].filter(({ id }) => !chosen.has(id))
    const moreWeight = missing.reduce((sum, { sizes }) => sum + sizes.weight, 0)
    const moreChecks = missing.reduce((sum, { checksCost }) => sum + checksCost, 0)
    if (weight + moreWeight > MAX_WEIGHT || checks + moreChecks > MAX_CHECKS_COST) continue
    for (const one of missing) chosen.set(one.id, one)
    weight += moreWeight
    checks += moreChecks
  }
  return [...chosen.values()]
}

/** What a miner chooses of a block. */
export interface Template {
  /** Script of the output that takes subsidy and fees. */
  readonly script: Uint8Array
  /** Seconds since 1970; the block is later where its parents are. */
  readonly now: number
  readonly extraNonce: number
  /** What follows height and nonce in the coinbase's input. */
  readonly tag?: Uint8Array
  /** More outputs of the coinbase, without value. */
  readonly outputs?: readonly Output[]
  /** In place of the mempool's transactions, with all their fees. */
  readonly transactions?: { readonly list: readonly Transaction[]; readonly fees: bigint }
}

/** A block on the best one, with proof of work. */
export function assemble(state: ChainState, template: Template): Block {
  const parent = bestBlock(state)
  const height = parent.height + 1
  const entries = template.transactions === undefined ? selectEntries(state) : []
  const list = template.transactions?.list ?? entries.map(({ transaction }) => transaction)
  const fees = template.transactions?.fees ?? entries.reduce((sum, { fee }) => sum + fee, 0n)
  const coinbase = coinbaseOf({ ...template, height, value: subsidyAt(height) + fees }, list)
  const transactions = [coinbase, ...list]
  const header = mined({
    version: BLOCK_VERSION,
    previous: fromDisplayed(parent.hash),
    merkleRoot: transactionsRoot(transactions),
    time: Math.max(template.now, medianTime(state, parent) + 1),
    bits: REGTEST.bits,
    nonce: 0,
  })
  return { header, transactions }
}
