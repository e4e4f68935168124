/** Random trees of blocks in random order: the node reaches the state that a simple model of fork choice and pool predicts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import { contractAddress, type Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { ChainUpdate } from '../../../src/engine/model.ts'
import { createNode, type Node } from '../../../src/index.ts'
import type { StateReader } from '../../../src/state/model.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { createForge, type Forge, transfer } from '../../support/forge.ts'
import { replayFromGenesis } from '../../support/replay.ts'

const NOW = 1_700_000_000
/** Logs the value that came. */
const LOGGER = deployer(assemble('CALLVALUE PUSH1 0 PUSH1 0 LOG1 STOP'))

const plannedTransaction = fc.record({
  sender: fc.nat(2),
  value: fc.bigInt(1n, 2n),
  gasPrice: fc.bigInt(0n, 2n),
  logs: fc.boolean(),
})
const plan = fc.record({
  blocks: fc.array(
    fc.record({
      /** How many blocks above the end of the list of those that stand; most trees grow. */
      parent: fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 2, arbitrary: fc.nat(9) }),
      transactions: fc.array(plannedTransaction, { maxLength: 3 }),
      /** Different hashes for the same content. */
      coinbase: fc.constantFrom<Hex>(`0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`),
      names: fc.boolean(),
    }),
    { minLength: 1, maxLength: 9 },
  ),
  order: fc.infiniteStream(fc.nat(1000)),
  early: fc.array(fc.nat(20), { maxLength: 4 }),
})

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

/** The tree, oldest first; its first block, on which all stand, makes the contract that logs. */
async function grow(forge: Forge, planned: Plan['blocks']) {
  const deployment = transfer(0, { nonce: 0n, to: null, value: 0n, data: LOGGER })
  const tree = [await forge.make(forge.genesis, { transactions: [deployment] })]
  const logger = contractAt(tree[0] as ExecutedBlock, forge)
  for (const { parent: back, transactions, coinbase, names } of planned) {
    const parent = tree[Math.max(0, tree.length - 1 - back)] as ExecutedBlock
    const state = forge.stateAfter(parent)
    const nonces = new Map<number, bigint>()
    const signed = transactions.map(({ sender, value, gasPrice, logs }) => {
      const from = transfer(sender, {}).from
      const nonce = nonces.get(sender) ?? state.account(from)?.nonce ?? 0n
      nonces.set(sender, nonce + 1n)
      return transfer(sender, { nonce, value, gasPrice, ...(logs && { to: logger }) })
    })
    tree.push(await forge.make(parent, { transactions: signed, coinbase, ...(!names && { uncles: [] }) }))
  }
  return { tree, logger }
}

function contractAt(block: ExecutedBlock, forge: Forge): Hex {
  const [deployment] = block.block.transactions
  if (deployment === undefined) throw new Error('no deployment')
  const address = contractAddress(deployment.from, 0n)
  if (forge.stateAfter(block).account(address) === undefined) throw new Error('no contract')
  return address
}

/** Fork choice and pool, everything worked out anew from the blocks that were delivered. */
class Model {
  readonly blocks = new Map<Hex, ExecutedBlock>()
  readonly #stateAfter: (block: ExecutedBlock) => StateReader
  head: ExecutedBlock
  pool: Transaction[] = []

  constructor(forge: Forge) {
    this.#stateAfter = forge.stateAfter
    this.head = forge.genesis
    this.blocks.set(forge.genesis.hash, forge.genesis)
  }

  /** From a block down to genesis. */
  chain(tip: ExecutedBlock): ExecutedBlock[] {
    const below = this.blocks.get(tip.block.header.parentHash)
    return below === undefined ? [tip] : [tip, ...this.chain(below)]
  }

  weight(tip: ExecutedBlock): bigint {
    return this.chain(tip)
      .flatMap(({ block }) => [block.header, ...block.uncles])
      .reduce((sum, { difficulty }) => sum + difficulty, 0n)
  }

  wins(block: ExecutedBlock): boolean {
    const [a, b] = [this.weight(block), this.weight(this.head)]
    if (a !== b) return a > b
    const [fees, others] = [block.block.header.paidFees, this.head.block.header.paidFees]
    if (fees > others * 2n) return true
    return others < fees * 2n && BigInt(block.hash) < BigInt(this.head.hash)
  }

  /** What becomes of a block, and how the chain moves. */
  deliver(block: ExecutedBlock): { outcome: string; update?: { removed: Hex[]; added: Hex[] } } {
    if (this.blocks.has(block.hash)) return { outcome: 'known' }
    if (!this.blocks.has(block.block.header.parentHash)) return { outcome: 'refused' }
    const [old, best] = [this.chain(this.head), this.wins(block)]
    this.blocks.set(block.hash, block)
    if (!best) return { outcome: 'side' }
    this.head = block
    const now = this.chain(block)
    const removed = old.filter((one) => !now.includes(one))
    const added = now.filter((one) => !old.includes(one)).reverse()
    this.#movePool(removed, added)
    const hashes = (blocks: ExecutedBlock[]) => blocks.map(({ hash }) => hash)
    return { outcome: 'best', update: { removed: hashes(removed), added: hashes(added) } }
  }

  nonce(from: Hex): bigint {
    return this.#stateAfter(this.head).account(from)?.nonce ?? 0n
  }

  at(from: Hex, nonce: bigint): Transaction | undefined {
    return this.pool.find((one) => one.from === from && one.nonce === nonce)
  }

  next(from: Hex): bigint {
    let next = this.nonce(from)
    while (this.at(from, next) !== undefined) next++
    return next
  }

  /** As a new transaction is taken in; money never runs out here. */
  offer(transaction: Transaction): void {
    const { from, nonce, hash, gasPrice } = transaction
    const held = this.at(from, nonce)
    if (nonce < this.nonce(from) || held?.hash === hash) return
    if (held !== undefined && nonce < this.next(from) && gasPrice <= held.gasPrice) return
    this.pool = [...this.pool.filter((one) => one !== held), transaction]
  }

  #movePool(removed: ExecutedBlock[], added: ExecutedBlock[]): void {
    const mined = new Set(added.flatMap(({ block }) => block.transactions.map(({ hash }) => hash)))
    this.pool = this.pool.filter(({ from, nonce }) => nonce >= this.nonce(from))
    for (const { block } of [...removed].reverse()) {
      for (const transaction of block.transactions) {
        if (!transaction.isRemasc && !mined.has(transaction.hash)) this.offer(transaction)
      }
    }
  }

  get runnable(): Hex[] {
    return this.pool
      .filter(({ from, nonce }) => nonce < this.next(from))
      .map(({ hash }) => hash)
      .sort()
  }
}

async function expectAsModel(
  node: Node,
  model: Model,
  tree: readonly ExecutedBlock[],
  logger: Hex,
  forge: Forge,
) {
  const { queries } = node.engine
  const canonical = model.chain(model.head).reverse()
  const head = queries.head()
  expect(head.hash).toBe(model.head.hash)
  expect(head.totalDifficulty).toBe(model.weight(model.head))
  for (const block of tree) {
    if (!model.blocks.has(block.hash)) continue
    const { number } = block.block.header
    expect(queries.isCanonical(block.hash)).toBe(canonical[number]?.hash === block.hash)
    for (const transaction of block.block.transactions) {
      const home = canonical.find((one) =>
        one.block.transactions.some(({ hash }) => hash === transaction.hash),
      )
      expect(queries.receipt(transaction.hash)?.block.hash).toBe(home?.hash)
    }
    const state = await queries.state({ hash: block.hash })
    expect(state?.account(logger)).toEqual(forge.stateAfter(block).account(logger))
  }
  const range = { from: 0, to: head.block.header.number }
  const logs = await queries.logs({ range, addresses: [logger], topics: [], maxBlocks: 0, maxLogs: 0 })
  const expected = canonical.flatMap((block) =>
    block.receipts.flatMap((receipt, index) =>
      receipt.logs
        .filter(({ address }) => address === logger)
        .map((log) => [block.hash, block.block.transactions[index]?.hash, log.topics[0]]),
    ),
  )
  expect(logs.map((view) => [view.block.hash, view.transaction.hash, view.log.topics[0]])).toEqual(expected)
  expect(
    queries
      .pendingTransactions()
      .map(({ hash }) => hash)
      .sort(),
  ).toEqual(model.runnable)
  for (const sender of [0, 1, 2]) {
    const { from } = transfer(sender, {})
    expect(queries.pendingNonce(from)).toBe(model.next(from))
  }
}

it('trees of blocks in any order lead to the state of the model, also after a restart', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ blocks, order, early }) => {
      const forge = await createForge()
      const { tree, logger } = await grow(forge, blocks)
      const model = new Model(forge)
      const dataDir = mkdtempSync(join(tmpdir(), 'forks-'))
      const options = { mining: 'manual' as const, now: () => NOW, accountSlots: 1000, dataDir }
      let node = await createNode(options)
      try {
        const updates: ChainUpdate[] = []
        node.engine.events.on('chain', (update) => updates.push(update))
        const all = tree.flatMap(({ block }) => block.transactions.filter(({ isRemasc }) => !isRemasc))
        for (const pick of early) {
          const transaction = all[pick % all.length] as Transaction
          await node.engine.commands.submit(transaction).catch(() => undefined)
          model.offer(transaction)
        }
        const waiting = [...tree, ...tree.slice(0, 2)]
        while (waiting.length > 0) {
          const [block] = waiting.splice((order.next().value as number) % waiting.length, 1)
          if (block === undefined) throw new Error('nothing waits')
          const expected = model.deliver(block)
          const got = await node.engine.commands.importBlock(block.block).then(
            ({ outcome }) => outcome,
            (error) => {
              if (!/parent .* is unknown/.test(String(error))) throw error
              return 'refused'
            },
          )
          const [update] = updates.splice(0).map(({ removed, added }) => ({
            removed: removed.map(({ hash }) => hash),
            added: added.map(({ hash }) => hash),
          }))
          expect({ outcome: got, ...(update && { update }) }).toEqual(expected)
          if (got === 'refused') waiting.push(block)
        }
        await expectAsModel(node, model, tree, logger, forge)
        await replayFromGenesis(node)
        await node.close()
        node = await createNode(options)
        await expectAsModel(node, model, tree, logger, forge)
      } finally {
        await node.close()
        rmSync(dataDir, { recursive: true, force: true })
      }
    }),
    { numRuns: 40 },
  )
}, 120_000)
