/** Log queries over more than a section of the index, against a look at every receipt: grown, turned, cut and opened again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { matchesLog } from '../../../src/chain/log-filter.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { SECTION_BLOCKS } from '../../../src/engine/index/section.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { loggingChain, topic } from '../../support/logging-chain.ts'

const NONE = { maxBlocks: 0, maxLogs: 0 }

/** Holds queries of every sort to what the receipts of the canonical blocks say. */
async function expectAsReceipts({ engine: { queries } }: Node, loggers: readonly Hex[]): Promise<void> {
  const head = queries.head().block.header.number
  const standing = []
  for (let height = 0; height <= head; height++) {
    const block = queries.blocksAt(height).find(({ hash }) => queries.isCanonical(hash))
    if (block === undefined) throw new Error(`no block at height ${height}`)
    for (const { logs } of block.receipts) {
      for (const log of logs) standing.push({ height, hash: block.hash, log })
    }
  }
  const edge = SECTION_BLOCKS
  for (const [from, to] of [
    [0, head],
    [edge - 20, edge + 2],
    [edge - 1, edge - 1],
    [edge, head],
    [3, edge - 1],
  ] as const) {
    for (const [addresses, topics] of [
      [[], []],
      [[loggers[1]], []],
      [loggers, [[topic(1), topic(3)]]],
      [[], [null, [topic(0)]]],
      [[], [[topic(99)]]],
    ] as [Hex[], (Hex[] | null)[]][]) {
      const found = await queries.logs({ range: { from, to }, addresses, topics, ...NONE })
      const expected = standing.filter(
        ({ height, log }) => height >= from && height <= to && matchesLog(log, addresses, topics),
      )
      expect(found.map(({ block, log }) => [block.hash, log])).toEqual(
        expected.map(({ hash, log }) => [hash, log]),
      )
    }
  }
}

it('finds exactly the logs of the canonical chain', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'logs-'))
  try {
    const { node, loggers, log, raw, mine, height, call } = await loggingChain({ dataDir })
    for (let i = 0; height() < SECTION_BLOCKS + 6; i++) {
      if (i % 40 === 0 || height() > SECTION_BLOCKS - 8) {
        await log((i % 2) as 0 | 1, [i % 5, i % 3])
        await log(0, [i % 4, i % 2])
      }
      await mine(height() > SECTION_BLOCKS - 8 ? 1 : 40)
    }
    await expectAsReceipts(node, loggers)
    const below = `0x${(height() - 9).toString(16)}`
    const nonce = BigInt(
      await call('eth_getTransactionCount', '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826', below),
    )
    const transactions = [raw(1, [3, 0], { nonce }), raw(1, [1, 2], { nonce: nonce + 1n })]
    await call('evm_reorg', {
      depth: 9,
      blocks: [{ transactions }, ...Array.from({ length: 10 }, () => ({}))],
    })
    await expectAsReceipts(node, loggers)
    await node.close()
    const again = await createNode({ dataDir, mining: 'manual' })
    await expectAsReceipts(again, loggers)
    await again.close()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}, 60_000)

it('indexes the participants of transactions, including created contracts', async () => {
  const { node, loggers, log, mine, close } = await loggingChain()
  await mine(3)
  await log(1, [1, 1])
  await mine(3)
  const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
  const between = async (senders: Hex[], receivers: Hex[], range = { from: 0, to: 99 }) => {
    const found: number[] = []
    for await (const heights of node.engine.queries.blocksBetween(senders, receivers, range))
      found.push(...heights)
    return found
  }
  expect(await between([sender], [])).toEqual([1, 5])
  expect(await between([], [loggers[1]])).toEqual([1, 5])
  expect(await between([], [loggers[0]])).toEqual([1])
  expect(await between([sender], [loggers[1]], { from: 2, to: 5 })).toEqual([5])
  expect(await between([loggers[0]], [])).toEqual([])
  expect(await between([], [])).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  await close()
})

it('finds logs of blocks that replaced others far below the head', async () => {
  const { node, loggers, log, mine, call } = await loggingChain({})
  const before = await call('evm_snapshot')
  await log(0, [1, 2])
  await log(1, [3, 3])
  await mine(600)
  await expectAsReceipts(node, loggers)
  expect(await call('evm_revert', before)).toBe(true)
  await log(1, [1, 0])
  await mine(1)
  await log(0, [3, 2])
  await mine(600)
  await expectAsReceipts(node, loggers)
  await node.close()
}, 60_000)
