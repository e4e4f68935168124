/** Answers of many logs, whose texts are kept, against the receipts of the canonical blocks, whatever becomes of the chain. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchesLog } from '../../../../src/chain/log-filter.ts'
import type { Hex } from '../../../../src/encoding/hex.ts'
import { toRpcReceiptLog } from '../../../../src/rpc/wire/log.ts'
import { type LoggingChain, loggingChain, topic } from '../../../support/logging-chain.ts'

/** What the receipts say, made without index, filter of the query or kept text. */
function expected({ node: { engine } }: LoggingChain, addresses: readonly Hex[], topics: readonly Hex[][]) {
  const { queries } = engine
  const found = []
  for (let height = 0; height <= queries.head().block.header.number; height++) {
    const executed = queries.blocksAt(height).find(({ hash }) => queries.isCanonical(hash))
    if (executed === undefined) throw new Error(`no block at height ${height}`)
    let logIndex = 0
    for (const [transactionIndex, { logs }] of executed.receipts.entries()) {
      const transactionHash = executed.block.transactions[transactionIndex]?.hash as Hex
      for (const log of logs) {
        const place = {
          blockHash: executed.hash,
          blockNumber: height,
          transactionHash,
          transactionIndex,
          logIndex: logIndex++,
        }
        if (matchesLog(log, addresses, topics)) found.push({ ...toRpcReceiptLog(log, place), removed: false })
      }
    }
  }
  return found
}

async function expectAsReceipts(chain: LoggingChain): Promise<void> {
  const range = { fromBlock: '0x0', toBlock: 'latest' }
  for (const [address, topics] of [
    [[], []],
    [[chain.loggers[1]], []],
    [[...chain.loggers], [[topic(1), topic(2)]]],
  ] as [Hex[], Hex[][]][]) {
    const answer = await chain.call('eth_getLogs', { ...range, address, topics })
    expect(answer).toEqual(expected(chain, address, topics))
  }
}

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('log' as const),
      logger: fc.constantFrom(0 as const, 1 as const),
      count: fc.integer({ min: 1, max: 4 }),
      topic: fc.nat(3),
      bytes: fc.constantFrom(0, 40, 400),
    }),
    fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('snapshot' as const) }),
    fc.record({ kind: fc.constant('revert' as const) }),
    fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('edit' as const), value: fc.nat(1000) }),
  ),
  { minLength: 4, maxLength: 14 },
)

it('returns the logs in the receipts after every change', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      // Reorganisations put the transactions of several blocks back into the pool.
      const chain = await loggingChain({ accountSlots: 1000 })
      const snapshots: unknown[] = []
      // More than are answered as objects.
      for (let i = 0; i < 20; i++) {
        await chain.log((i % 2) as 0 | 1, [i % 4, i])
        if (i % 5 === 4) await chain.mine(1)
      }
      await expectAsReceipts(chain)
      for (const step of list) {
        if (step.kind === 'log') {
          for (let i = 0; i < step.count; i++) {
            await chain.log(step.logger, [step.topic, i], { bytes: step.bytes })
          }
          await chain.mine(1)
        } else if (step.kind === 'mine') await chain.mine(step.blocks)
        else if (step.kind === 'snapshot') snapshots.push(await chain.call('evm_snapshot'))
        else if (step.kind === 'revert' && snapshots.length > 0) {
          await chain.call('evm_revert', snapshots.pop())
        } else if (step.kind === 'reorg' && chain.height() > step.depth + 2) {
          const blocks = Array.from({ length: 2 * step.depth + 3 }, () => ({}))
          await chain.call('evm_reorg', { depth: step.depth, blocks })
          snapshots.length = 0
        } else if (step.kind === 'edit') {
          await chain.call('hardhat_setBalance', chain.loggers[0], `0x${step.value.toString(16)}`)
        }
        await expectAsReceipts(chain)
      }
      await chain.close()
    }),
    { numRuns: 12 },
  )
}, 60_000)
