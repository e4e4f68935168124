/** How a node mines by itself: mixed mining, and the order of transactions in a block. */
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'

const SENDERS = [
  '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
  '0x7986b3df570230288501eea3d890bd66948c9b79',
  '0x0a3aa774752ec2042c46548456c094a76c7f3a79',
] as const
const [A, B] = SENDERS
const HOUR = 3600

let node: Node | undefined
afterEach(() => node?.close())

const call = (method: string, ...params: unknown[]) => (node as Node).request({ method, params })
const transfer = (from: string, more: object = {}) =>
  call('eth_sendTransaction', { from, to: B, value: '0x1', ...more })

describe('mixed mining', () => {
  it('gives each transaction a block', async () => {
    node = await createNode({ mining: HOUR, mixedMining: true })
    await transfer(A)
    expect(await call('eth_blockNumber')).toBe('0x1')
    expect(await call('hardhat_getAutomine')).toBe(true)
    expect(await call('anvil_getIntervalMining')).toBe(HOUR)
    expect(await call('eth_mining')).toBe(true)
  })

  it('mines without a transaction on its timer', async () => {
    node = await createNode({ mining: 0.01, mixedMining: true })
    const { events } = node.engine
    const counts: number[] = []
    await new Promise<void>((resolve) => {
      events.on('chain', ({ added }) => {
        // The REMASC transaction is in every block.
        counts.push(...added.map(({ block }) => block.transactions.length - 1))
        if (counts.includes(1) && counts.filter((count) => count === 0).length > 1) resolve()
      })
      void transfer(A)
    })
    expect(counts.filter((count) => count > 0)).toEqual([1])
  })

  it('keeps its timer when automining is turned off, and can turn it on again', async () => {
    node = await createNode({ mining: HOUR, mixedMining: true })
    await call('evm_setAutomine', false)
    await transfer(A)
    expect(await call('eth_blockNumber')).toBe('0x0')
    expect(await call('anvil_getIntervalMining')).toBe(HOUR)
    expect(await call('hardhat_getAutomine')).toBe(false)
    await node.engine.commands.setMiningMode({ mixed: HOUR * 1000 })
    // What waited is mined with the change.
    expect(await call('eth_blockNumber')).toBe('0x1')
    await call('evm_setAutomine', true)
    expect(await call('anvil_getIntervalMining')).toBe(HOUR)
    await call('evm_setIntervalMining', HOUR * 1000)
    expect(await call('hardhat_getAutomine')).toBe(false)
  })

  it('requires an interval', async () => {
    await expect(createNode({ mixedMining: true })).rejects.toThrow(
      'Option "mixedMining" needs seconds between blocks in the option "mining".',
    )
  })
})

describe('a block', () => {
  // The later, the better the price; the first sender's second transaction arrives before the others'.
  async function sendAll(): Promise<string[]> {
    const prices: [string, number][] = [
      [A, 1],
      [A, 9],
      [SENDERS[1], 2],
      [SENDERS[2], 3],
    ]
    const hashes: unknown[] = []
    for (const [from, price] of prices) hashes.push(await transfer(from, { gasPrice: `0x${price}` }))
    await call('evm_mine')
    const { transactions } = (await call('eth_getBlockByNumber', 'latest', false)) as {
      transactions: string[]
    }
    return transactions.slice(0, -1).map((hash) => `${hashes.indexOf(hash)}`)
  }

  it.each([
    // The best of what each sender may send next: 3, 2, 1, and then the 9 behind the 1.
    ['fees', ['3', '2', '0', '1']],
    ['fifo', ['0', '1', '2', '3']],
  ] as const)('holds transactions in the order %s', async (order, expected) => {
    node = await createNode({ mining: 'manual', order })
    expect(await sendAll()).toEqual(expected)
    expect(await call('anvil_nodeInfo')).toMatchObject({ transactionOrder: order })
  })
})
