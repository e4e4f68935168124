/** Lookups whose work must not grow with the block in which they find something. */
import { expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { ask } from '../support/state-files.ts'
import { countWork } from '../support/work.ts'

const SENDER = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const RECEIVER = '0x0000000000000000000000000000000001ffffff'
const TRANSFER = { from: SENDER, to: RECEIVER, value: '0x1' }

const quantity = (value: number) => `0x${value.toString(16)}`

it('a transaction is found by sender and nonce without decoding the rest of its block', async () => {
  const size = 100
  const node = await createNode({ now: () => 1_900_000_000, mining: 'manual', accountSlots: 1000 })
  try {
    for (let nonce = 0; nonce < size; nonce++) {
      await ask(node, 'eth_sendTransaction', { ...TRANSFER, gas: '0x5208', nonce: quantity(nonce) })
    }
    await ask(node, 'evm_mine')
    // Its block is no longer among those that are kept decoded.
    await ask(node, 'hardhat_mine', quantity(1600))
    const ofNonce = (nonce: number) =>
      ask(node, 'eth_getTransactionBySenderAndNonce', SENDER, quantity(nonce))
    // The first lookup of a process makes what later ones use.
    await ofNonce(0)
    const [work = 0] = await countWork([() => ofNonce(size - 2)])
    // A stored transaction is skipped by its prefix and its sender's.
    expect(work).toBeLessThan(size * 30 + 1500)
    expect(await ofNonce(size - 1)).toMatchObject({
      ...TRANSFER,
      nonce: quantity(size - 1),
      blockNumber: '0x1',
      transactionIndex: quantity(size - 1),
    })
  } finally {
    await node.close()
  }
})
