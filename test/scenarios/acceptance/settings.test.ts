/** Acceptance checks of the chain's RPC by their numbers, over HTTP: a node with other settings. */
import { afterEach, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, B, callsTo, INV, LOG2, LOOP, N, RB, RET1 } from './calls.ts'

let t: ServedNode
const { error, mined } = callsTo(() => t)

afterEach(() => t.close())

describe('a node with other settings', () => {
  it('23, 24: requests that take too long or have too large a reply', async () => {
    t = await servedNode({ rpcTimeoutMs: 100, callGasCap: 0n, maxResponseBytes: 2000 })
    expect(await error('eth_call', [{ data: LOOP, gas: '0xffffffffffff' }, 'latest'])).toEqual({
      code: -32011,
      message: 'Execution has got timeout out.',
    })
    expect(await error('eth_getBlockByNumber', ['latest'])).toBeUndefined()
    await t.call('evm_mine')
    expect(await error('eth_getBlockByNumber', ['latest', true])).toEqual({
      code: -32011,
      message: 'Response size limit of 2000 bytes exceeded',
    })
  })

  it('93, 39, 219: switches', async () => {
    t = await servedNode({ stateOverride: false, wallet: false, methods: ['-evm'] })
    expect(await error('eth_call', [{ to: N }, 'latest', { [N]: { code: RET1 } }])).toEqual({
      code: -32602,
      message: 'State override is not allowed',
    })
    expect(await t.call('eth_call', { to: N }, 'latest', {})).toBe('0x')
    expect(await t.call('eth_accounts')).toEqual([])
    expect(await error('eth_sendTransaction', [{ from: A, to: B }])).toEqual({
      code: -32602,
      message: 'Local wallet is disabled in this node',
    })
    expect(await error('evm_mine', [])).toEqual({
      code: -32601,
      message: 'the method evm_mine does not exist/is not available',
    })
  })

  it('153, 154: log limits', async () => {
    t = await servedNode({ maxLogBlocks: 10, maxLogs: 1 })
    await t.call('evm_mine', { blocks: 12 })
    const range = (toBlock: string) => error('eth_getLogs', [{ fromBlock: '0x0', toBlock }])
    expect(await range('0xb')).toEqual({ code: -32012, message: 'Cannot query more than 10 blocks at once' })
    expect(await range('0xa')).toBeUndefined()
    await mined({ from: A, data: LOG2, gas: '0x20000' })
    expect(await error('eth_getLogs', [{}])).toEqual({
      code: -32012,
      message: 'Filter returned more than 1 logs.',
    })
    // Both limits are passed: the range is refused first.
    for (const method of ['eth_getLogs', 'eth_newFilter']) {
      expect(await error(method, [{ fromBlock: '0x0' }])).toEqual({
        code: -32012,
        message: 'Cannot query more than 10 blocks at once',
      })
    }
  })

  it('returns the hash of a mined transaction that reverted, or errors for failed calls, where configured', async () => {
    t = await servedNode({ minedReverts: 'hash', strictCalls: true })
    const { receipt } = await mined({ from: A, data: RB })
    expect(receipt.status).toBe('0x0')
    expect((await error('eth_call', [{ data: INV }, 'latest'])).code).toBe(-32015)
  })

  it('devnet starts with its own accounts and chain id', async () => {
    t = await servedNode({ chain: 'devnet', mining: 'manual' })
    expect(await t.call('eth_chainId')).toBe('0x20')
    expect(await t.call('net_version')).toBe('32')
    expect((await t.call('eth_getBlockByNumber', 'earliest')).number).toBe('0x0')
    expect(await t.call('eth_getProof', B, [], 'earliest')).toMatchObject({ address: B })
  })

  it.each([
    ['regtest', '0x21', '33', '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe'],
    ['testnet', '0x1f', '31', '0xcabb7fbe88cd6d922042a32ffc08ce8b1fbb37d650b9d4e7dbfe2a7469adfa42'],
    ['mainnet', '0x1e', '30', '0xf88529d4ab262c0f4d042e9d8d3f2472848eaafe1a9b7213f57617eb40a9f9e0'],
  ] as const)('%s starts from its real genesis', async (chain, chainId, version, hash) => {
    t = await servedNode({ chain, mining: 'manual' })
    expect(await t.call('eth_chainId')).toBe(chainId)
    expect(await t.call('net_version')).toBe(version)
    expect((await t.call('eth_getBlockByNumber', 'earliest')).hash).toBe(hash)
  })
})
