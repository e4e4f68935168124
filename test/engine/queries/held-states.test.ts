/** A query in process that waits while the states that it reads leave the chain and are collected. */
import { expect, it } from 'vitest'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import { createNode } from '../../../src/index.ts'
import { createNodeFrom } from '../../../src/node/node.ts'
import { originOf } from '../../../src/node/origin.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { nodeSource } from '../../../src/store/state-nodes.ts'

const OPTIONS = { frozenClock: true, mining: 'manual', seed: 'held' } as const
const PAYMENTS = 40
/** A time slice of the scheduler, and some more. */
const SPIN_MS = 4

const addressOf = (index: number): Hex => toFixedHex(0x5000n + BigInt(index), 20)

/** Keeps the event loop busy, so that the query yields to what waits. */
function spin(): void {
  const end = performance.now() + SPIN_MS
  while (performance.now() < end);
}

it('reads them all the same', async () => {
  const base = await createNode(OPTIONS)
  const store = createMemoryStore(undefined, { leastNew: 1, leastStep: 4_096 })
  const node = await createNodeFrom(OPTIONS, { ...originOf(base).start(), store })
  try {
    const { commands, dev, queries, accounts } = node.engine
    const senders = accounts.list().slice(0, 4)
    await commands.mine()
    const id = await commands.snapshot()
    await dev.editState(
      Array.from({ length: PAYMENTS }, (_, index) => ({ address: addressOf(index), balance: 7n })),
    )
    const parent = queries.head().postState
    for (let index = 0; index < PAYMENTS; index++) {
      const from = senders[index % senders.length] as Hex
      await commands.send({ from, to: addressOf(index), value: 1n, gas: 21_000n, gasPrice: 1n })
    }
    const [block] = await commands.mine()
    if (block === undefined) throw new Error('no block was mined')

    /** More than is there, so that a collection begins, and ends within two commands. */
    const collect = async () => {
      const edits = Array.from({ length: 2 * store.states.nodes.size }, (_, index) => ({
        address: addressOf(PAYMENTS + index),
        nonce: BigInt(++edited),
      }))
      await dev.editState(edits)
      for (let blocks = 0; blocks < 3; blocks++) await commands.mine()
    }
    let [edited, traced] = [0, 0]
    const replay = queries.replay(block, () => {
      traced++
      spin()
      return undefined
    })
    expect(await commands.revert(id)).toBe(true)
    await collect()
    // Otherwise nothing was tried.
    expect(traced).toBeLessThan(PAYMENTS)

    const { state, result } = await replay
    expect(result?.receipts).toHaveLength(PAYMENTS + 1)
    expect(state.account(addressOf(PAYMENTS - 1))?.balance).toBe(8n)
    await dev.editState([{ address: addressOf(0), balance: 9n }])
    await collect()
    expect(nodeSource(store).node(parent)).toBe(undefined)
  } finally {
    await node.close()
    await base.close()
  }
})
