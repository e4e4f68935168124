import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { openSession } from '../../src/rpc/session.ts'
import { nearestName } from '../../src/rpc/unknown-method.ts'

const NAMES = METHODS.map(({ name }) => name)

describe('the nearest name', () => {
  it.each([
    ['eth_blokNumber', 'eth_blockNumber'],
    ['net_Version', 'net_version'],
    ['evm_mine1', 'evm_mine'],
    ['eth_getTransactionReciept', 'eth_getTransactionReceipt'],
    ['eth_snapshot', 'evm_snapshot'],
    ['debug_setBalance', 'hardhat_setBalance'],
    ['', undefined],
    ['nothing', undefined],
    ['eth_nothing', undefined],
    ['x'.repeat(900_000), undefined],
  ])('to %.30s is %s', (name, nearest) => {
    expect(nearestName(name, NAMES)).toBe(nearest)
  })
})

describe('an unknown method', () => {
  const errorOf = async (node: Awaited<ReturnType<typeof createNode>>, method: string, keys?: string[]) => {
    const session = {
      ...openSession('test'),
      ...(keys && { allows: ({ name }: { name: string }) => keys.includes(name) }),
    }
    const reply = await node.dispatcher.dispatchText(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
      session,
    )
    return JSON.parse(reply ?? '').error
  }

  it('keeps the message of the reference node, and is named in the data', async () => {
    const node = await createNode()
    expect(await errorOf(node, 'eth_blokNumber')).toEqual({
      code: -32601,
      message: 'method not found',
      data: { method: 'eth_blokNumber', nearest: 'eth_blockNumber' },
    })
    expect(await errorOf(node, 'eth_nothing')).toEqual({
      code: -32601,
      message: 'method not found',
    })
    await node.close()
  })

  it('is named in the message under a preset', async () => {
    const node = await createNode({ preset: 'hardhat' })
    expect(await errorOf(node, 'eth_blokNumber')).toEqual({
      code: -32601,
      message: 'method not found: eth_blokNumber; did you mean eth_blockNumber?',
      data: { method: 'eth_blokNumber', nearest: 'eth_blockNumber' },
    })
    expect((await errorOf(node, 'nothing')).message).toBe('method not found: nothing')
    await node.close()
  })

  it('is compared only with methods that are open to its caller', async () => {
    const node = await createNode({ methods: ['-eth_gasPrice'] })
    expect((await errorOf(node, 'eth_gasPric')).data).toBeUndefined()
    expect((await errorOf(node, 'evm_min', ['eth_call'])).data).toBeUndefined()
    expect((await errorOf(node, 'evm_mine', ['eth_call'])).data).toBeUndefined()
    expect((await errorOf(node, 'eth_cal', ['eth_call'])).data.nearest).toBe('eth_call')
    await node.close()
  })
})
