/** Transactions filled in for their sender: against the unsigned serialization of ethers. */
import { keccak256, Transaction } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { A, B } from '../../../support/fake-chain.ts'

let node: Node
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

interface Filled {
  readonly raw: string
  readonly tx: Record<string, unknown>
}

describe('eth_fillTransaction', () => {
  it('fills in nonce, gas and price of a legacy transaction', async () => {
    await ask('eth_sendTransaction', { from: A, to: B, value: '0x1', gasPrice: '0x5', gas: '0x5208' })
    const { raw, tx } = (await ask('eth_fillTransaction', { from: A, to: B, value: '0x2' })) as Filled
    const gasPrice = (await ask('eth_gasPrice')) as string
    expect(tx).toMatchObject({
      nonce: '0x1',
      gas: '0x5208',
      gasPrice,
      from: A,
      to: B,
      value: '0x2',
      type: '0x0',
    })
    const bare = Transaction.from({
      type: 0,
      nonce: 1,
      gasLimit: 21_000,
      gasPrice,
      to: B,
      value: 2,
      chainId: 0,
    })
    // ethers writes six elements without a chain id; the empty signature adds three.
    expect(raw.slice(-6)).toBe('808080')
    expect(raw.slice(4, -6)).toBe(bare.unsignedSerialized.slice(4))
    expect(tx.hash).toBe(keccak256(raw))
  })

  it('uses the maximum fee of EIP-1559 as the price, and keeps given members', async () => {
    const given = {
      from: A,
      to: B,
      maxFeePerGas: '0x7',
      maxPriorityFeePerGas: '0x1',
      nonce: '0x9',
      gas: '0x7530',
    }
    const { tx } = (await ask('eth_fillTransaction', given)) as Filled
    expect(tx).toMatchObject({ gasPrice: '0x7', nonce: '0x9', gas: '0x7530', type: '0x0', v: '0x0' })
    expect(((await ask('eth_fillTransaction', { ...given, gasPrice: '0x8' })) as Filled).tx.gasPrice).toBe(
      '0x8',
    )
  })

  it('returns the failure of the estimate, and needs a sender', async () => {
    await expect(ask('eth_fillTransaction', { from: A, data: '0x60006000fd' })).rejects.toMatchObject({
      code: -32015,
    })
    await expect(ask('eth_fillTransaction', { to: B })).rejects.toMatchObject({
      code: -32602,
      message: 'from is null',
    })
  })
})

it('answers accounts and prices under the names of other clients', async () => {
  expect(await ask('eth_requestAccounts')).toEqual(await ask('eth_accounts'))
  expect(await ask('eth_networkId')).toBe('33')
  expect(await ask('eth_maxPriorityFeePerGas')).toBe(await ask('eth_gasPrice'))
})
