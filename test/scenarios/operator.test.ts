/** What an operator asks of a real chain: its pool, its prices, its name, its accounts. */
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'

const nodes: Node[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

async function start(options: NodeOptions = {}) {
  const node = await createNode(options)
  nodes.push(node)
  // biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
  return (method: string, ...params: unknown[]): Promise<any> => node.request({ method, params })
}

const transfer = (fields: object = {}) => ({ from: A, to: B, value: '0x1', gas: '0x5208', ...fields })

describe('the pool', () => {
  it('shows runnable and queued transactions until they are mined', async () => {
    const call = await start({ mining: 'manual' })
    const waiting = await call('eth_sendTransaction', transfer({ nonce: '0x3' }))
    expect(await call('txpool_status')).toEqual({ pending: 0, queued: 1 })
    const { queued } = await call('txpool_content')
    expect(queued[A.slice(2)][3]).toMatchObject([{ hash: waiting }])
    expect(await call('txpool_inspect')).toEqual({
      pending: {},
      queued: { [A.slice(2)]: { 3: [`${B.slice(2)}: 1 wei + 21000 x 0 gas`] } },
    })
    for (const nonce of ['0x0', '0x1', '0x2']) await call('eth_sendTransaction', transfer({ nonce }))
    expect(await call('txpool_status')).toEqual({ pending: 4, queued: 0 })
    expect(Object.keys((await call('txpool_content')).pending[A.slice(2)])).toEqual(['0', '1', '2', '3'])
    await call('evm_mine')
    expect(await call('txpool_content')).toEqual({ pending: {}, queued: {} })
  })
})

describe('eth_feeHistory', () => {
  it('weights prices by gas in each block, without the REMASC transaction', async () => {
    const call = await start({ mining: 'manual' })
    await call('evm_mine')
    // 21,000 gas at 1 wei, 42,000 at 2, 21,000 at 9.
    for (const [from, gasPrice] of [
      [A, '0x9'],
      [A, '0x2'],
      [B, '0x2'],
      [B, '0x1'],
    ]) {
      await call('eth_sendTransaction', transfer({ from, gasPrice }))
    }
    await call('evm_mine')
    const history = await call('eth_feeHistory', '0x5', 'latest', [0, 25, 26, 75, 76, 100])
    const zeros = Array(6).fill('0x0')
    expect(history).toMatchObject({
      oldestBlock: '0x0',
      reward: [zeros, zeros, ['0x1', '0x1', '0x2', '0x2', '0x9', '0x9']],
    })
    const { gasLimit } = await call('eth_getBlockByNumber', 'latest', false)
    expect(history.gasUsedRatio).toEqual([0, 0, 84_000 / Number(gasLimit)])
    expect(await call('eth_feeHistory', '0x1', '0x1')).toEqual({
      oldestBlock: '0x1',
      baseFeePerGas: ['0x0', '0x0'],
      gasUsedRatio: [0],
    })
  })
})

describe('settings that clients read', () => {
  it('include a custom client name and the number of accounts', async () => {
    const call = await start({ clientVersion: 'anvil/v1.0.0', accounts: 20 })
    expect(await call('web3_clientVersion')).toBe('anvil/v1.0.0')
    expect((await call('rpc.discover')).info.title).toBe('Tandem JSON-RPC')
    const accounts: string[] = await call('eth_accounts')
    expect(new Set(accounts).size).toBe(20)
    const last = accounts.at(-1)
    await call('eth_sendTransaction', transfer({ from: last, to: A }))
    expect(BigInt(await call('eth_getBalance', last))).toBe(10n ** 30n - 1n)
  })
})
