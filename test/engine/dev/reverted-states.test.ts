/** What a store in memory holds after many snapshots and reverts. */
import { afterEach, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { createNodeFrom } from '../../../src/node/node.ts'
import { originOf } from '../../../src/node/origin.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { PREFIX } from '../../../src/store/tables.ts'
import type { Store } from '../../../src/store/write-behind.ts'

const CYCLES = 30
const TRANSACTIONS = 20
const LEAST_NEW = 200

const SENDERS = [1, 2, 3, 4].map((digit): Hex => `0x${`5${digit}`.repeat(20)}`)

let node: Node | undefined
afterEach(() => node?.close())

/** Entries of the states, and all others. */
async function countEntries(store: Store): Promise<{ readonly states: number; readonly others: number }> {
  let [states, others] = [0, 0]
  for await (const [key] of store.entries(Uint8Array.of(0), Uint8Array.of(255))) {
    if (key[0] === PREFIX.nodes || key[0] === PREFIX.code) states++
    else others++
  }
  return { states, others }
}

it('keeps only reachable states after reverts', async () => {
  const options = { mining: 'manual', frozenClock: true } as const
  const base = await createNode(options)
  const store = createMemoryStore(undefined, { leastNew: LEAST_NEW, leastStep: 20 })
  node = await createNodeFrom(options, { ...originOf(base).start(), store })
  await base.close()
  const own = node
  const call = (method: string, ...params: unknown[]) => own.request({ method, params })
  for (const from of SENDERS) {
    await call('hardhat_impersonateAccount', from)
    await call('hardhat_setBalance', from, '0xffffffffffffffffffff')
  }
  await call('evm_mine')
  const before = await countEntries(store)
  let [most, written] = [0, 0]
  for (let cycle = 1; cycle <= CYCLES; cycle++) {
    const id = await call('evm_snapshot')
    const { states } = await countEntries(store)
    for (let index = 0; index < TRANSACTIONS; index++) {
      const to = `0x${(10_000 + cycle * TRANSACTIONS + index).toString(16).padStart(40, '0')}`
      await call('eth_sendTransaction', { from: SENDERS[index % SENDERS.length], to, value: '0x1' })
    }
    await call('evm_mine')
    written += Math.max(0, (await countEntries(store)).states - states)
    const reverted = (await call('eth_getBlockByNumber', 'latest', false)) as {
      hash: Hex
      transactions: Hex[]
    }
    // REMASC is the last one.
    expect(reverted.transactions).toHaveLength(TRANSACTIONS + 1)
    expect(await call('evm_revert', id)).toBe(true)
    expect(await call('eth_getBlockByHash', reverted.hash, false)).toBeNull()
    expect(await call('eth_getTransactionReceipt', reverted.transactions[0])).toBeNull()
    expect(await call('eth_getTransactionByHash', reverted.transactions[0])).toBeNull()
    const now = await countEntries(store)
    expect(now.others).toBe(before.others)
    most = Math.max(most, now.states)
  }
  // Many times the bound, so that it was not just never reached.
  expect(written).toBeGreaterThan(5 * LEAST_NEW)
  expect(most).toBeLessThan(2 * (before.states + LEAST_NEW))
  expect(await call('eth_getBalance', SENDERS[0], 'latest')).toBe('0xffffffffffffffffffff')
})
