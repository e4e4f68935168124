/** Whatever the chain does, who polls or listens can tell from it alone which logs stand: none lost, none doubled. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ChainUpdate } from '../../../src/engine/model.ts'
import { loggingChain, topic } from '../../support/logging-chain.ts'

// biome-ignore lint/suspicious/noExplicitAny: logs as they come over the wire
type Log = any
const keyOf = ({ blockHash, logIndex }: Log) => `${blockHash} ${logIndex}`

/** The state of a client that applies every event it receives; events that contradict it fail. */
function client(known: readonly Log[]) {
  const logs = new Map<string, Log>(known.map((log) => [keyOf(log), log]))
  return {
    apply(log: Log): void {
      if (log.removed) {
        expect(logs.get(keyOf(log)), 'what is removed is known').toEqual({ ...log, removed: false })
        logs.delete(keyOf(log))
      } else {
        expect(logs.has(keyOf(log)), 'what comes is new').toBe(false)
        logs.set(keyOf(log), log)
      }
    },
    knows: () => [...logs.keys()].sort(),
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('log' as const),
      logger: fc.constantFrom(0, 1),
      first: fc.nat(2),
      second: fc.nat(2),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 4 }),
      refill: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revert' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('poll' as const), which: fc.nat(10) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('open' as const), filter: fc.nat(3), past: fc.boolean() }),
  },
)

it('polls and subscriptions report logs, headers and hashes correctly over random histories', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 22 }), async (steps) => {
      const chain = await loggingChain({ now: () => 1_700_000_000 })
      const { call, loggers, node } = chain
      const criteria = [
        {},
        { address: loggers[1] },
        { topics: [[topic(0), topic(2)]] },
        { address: [loggers[0]], topics: [null, topic(1)] },
      ]
      const open: {
        id: string
        criteria: object
        apply: (log: Log) => void
        check: () => Promise<void>
        pushed: boolean
      }[] = []
      const updates: ChainUpdate[] = []
      node.engine.events.on('chain', (update) => updates.push(update))
      const pooled: string[] = []
      node.engine.events.on('pool', ({ added }) => pooled.push(...added.map(({ hash }) => hash)))
      const received: { subscription: string; result: Log }[] = []
      node.on('message', ({ data }) => {
        const event = data as (typeof received)[number]
        const log = open.find(({ id }) => id === event.subscription)
        if (log === undefined) received.push(event)
        else log.apply(event.result)
      })

      async function begin(wanted: object, past: boolean): Promise<void> {
        const before = await call('eth_getLogs', { fromBlock: '0x0', ...wanted })
        const polling = client(past ? [] : before)
        const listening = client(before)
        for (const [pushed, knowledge] of [
          [false, polling],
          [true, listening],
        ] as const) {
          open.push({
            pushed,
            criteria: wanted,
            apply: knowledge.apply,
            id: pushed
              ? await call('eth_subscribe', 'logs', wanted)
              : await call('eth_newFilter', { ...wanted, ...(past && { fromBlock: '0x0' }) }),
            async check() {
              const standing: Log[] = await call('eth_getLogs', { fromBlock: '0x0', ...wanted })
              expect(knowledge.knows()).toEqual(standing.map(keyOf).sort())
            },
          })
        }
      }
      async function poll({ id, apply, check }: (typeof open)[number]): Promise<void> {
        for (const log of await call('eth_getFilterChanges', id)) apply(log)
        await check()
      }

      const heads = await call('eth_subscribe', 'newHeads')
      const pending = await call('eth_subscribe', 'newPendingTransactions')
      const blockFilter = await call('eth_newBlockFilter')
      const pendingFilter = await call('eth_newPendingTransactionFilter')
      await begin({}, true)
      let saved: string | undefined
      for (const one of steps) {
        if (one.do === 'log') await chain.log(one.logger as 0 | 1, [one.first, one.second])
        else if (one.do === 'mine') await chain.mine(one.blocks)
        else if (one.do === 'open') await begin(criteria[one.filter] as object, one.past)
        else if (one.do === 'snapshot') saved = await call('evm_snapshot')
        else if (one.do === 'revert') {
          if (saved !== undefined) await call('evm_revert', saved)
        } else if (one.do === 'poll') {
          const filter = open.filter(({ pushed }) => !pushed)[one.which]
          if (filter !== undefined) await poll(filter)
        } else if (chain.height() > one.depth) {
          const [filled, ...empty] = Array.from({ length: one.depth + 1 }, () => ({}))
          const from = chain.height() - one.depth + 1
          const nonce = BigInt(
            await call(
              'eth_getTransactionCount',
              '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
              `0x${(from - 1).toString(16)}`,
            ),
          )
          const transactions = one.refill && nonce >= 2n ? [chain.raw(1, [2, 1], { nonce })] : []
          await call('evm_reorg', {
            depth: one.depth,
            blocks: [{ ...filled, transactions }, ...empty],
          }).catch((error) => {
            // Uncles may have made what is there heavier.
            if (!/not be heavier/.test(String(error))) throw error
          })
        }
      }
      for (const listener of open) await (listener.pushed ? listener.check() : poll(listener))

      const added = updates.flatMap((update) => update.added.map(({ hash }) => hash))
      const of = (id: string) =>
        received.filter(({ subscription }) => subscription === id).map(({ result }) => result)
      expect(of(heads).map(({ hash }) => hash)).toEqual(added)
      expect(await call('eth_getFilterChanges', blockFilter)).toEqual(added)
      expect(of(pending)).toEqual(pooled)
      expect(await call('eth_getFilterChanges', pendingFilter)).toEqual(pooled)
      await chain.close()
    }),
    { numRuns: Number(process.env.FEEDS_RUNS ?? 25) },
  )
}, 120_000)
