/** Acceptance checks of the chain's RPC by their numbers, over HTTP: sending transactions. */
import { keccak256, Transaction, Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, A_KEY, B, callsTo, N, RB } from './calls.ts'

let t: ServedNode
const { error, mined, transfer } = callsTo(() => t)

afterEach(() => t.close())

describe('an automining node', () => {
  beforeEach(async () => {
    t = await servedNode({ rpcTimeoutMs: 20_000 })
  })

  it('94–104, 107–113: sending', async () => {
    const { hash, receipt } = await transfer()
    expect(receipt).toMatchObject({ status: '0x1', gasUsed: '0x5208' })
    expect(await error('eth_sendTransaction', [{ to: B }])).toEqual({ code: -32602, message: 'from is null' })
    expect(await error('eth_sendTransaction', [{ from: N, to: B }])).toEqual({
      code: -32602,
      message: `Could not find account for address: ${N}`,
    })
    for (const chainId of ['0x1', '0x1234']) {
      expect(await error('eth_sendTransaction', [{ from: A, to: B, chainId }])).toEqual({
        code: -32602,
        message: `Invalid chainId: ${chainId}`,
      })
    }
    const refused = async (fields: Record<string, unknown>) =>
      error('eth_sendTransaction', [{ from: A, to: B, ...fields }])
    expect(await refused({ gas: '0x5207' })).toEqual({
      code: -32010,
      message: "transaction's basic cost is above the gas limit",
    })
    expect((await refused({ gas: '0x989680' })).message).toMatch(
      /^transaction's gas limit of 10000000 is higher than the block's gas limit of 680000/,
    )
    expect(await refused({ nonce: '0x0' })).toEqual({ code: -32010, message: 'transaction nonce too low' })
    expect(await refused({ nonce: '0x11' })).toEqual({ code: -32010, message: 'transaction nonce too high' })
    expect(await t.call('eth_sendTransaction', { from: A, to: B, nonce: '0x10' })).toMatch(/^0x.{64}$/)
    const plain = await mined({ from: A, to: B })
    expect(await t.call('eth_getTransactionByHash', plain.hash)).toMatchObject({
      gas: '0x15f90',
      gasPrice: '0x0',
    })

    const poor = Wallet.createRandom()
    const sign = (fields: object, key = A_KEY) =>
      new Wallet(key).signTransaction({
        type: 0,
        to: B,
        gasLimit: 21000,
        gasPrice: 0,
        chainId: 33,
        ...fields,
      })
    expect(await error('eth_sendRawTransaction', [await sign({ nonce: 0 }, poor.privateKey)])).toEqual({
      code: -32010,
      message: "the sender account doesn't exist",
    })
    await mined({ from: A, to: poor.address, value: '0x1' })
    expect(
      (await error('eth_sendRawTransaction', [await sign({ nonce: 0, value: 2 }, poor.privateKey)])).message,
    ).toBe('insufficient funds to pay for pending and new transactions')
    expect(
      (
        await error('eth_sendRawTransaction', [
          await sign({ nonce: 0, value: 2, gasPrice: 1 }, poor.privateKey),
        ])
      ).message,
    ).toBe('insufficient funds')

    const nonce = Number(await t.call('eth_getTransactionCount', A))
    const raw = await sign({ nonce })
    expect(await t.call('eth_sendRawTransaction', raw)).toBe(keccak256(raw))
    const unprotected = Transaction.from({
      type: 0,
      to: B,
      gasLimit: 21000,
      gasPrice: 0,
      nonce: nonce + 1,
      value: 3,
    })
    unprotected.signature = new Wallet(A_KEY).signingKey.sign(unprotected.unsignedHash)
    expect(await t.call('eth_sendRawTransaction', unprotected.serialized)).toBe(unprotected.hash)
    expect(await error('eth_sendRawTransaction', [await sign({ nonce, chainId: 1 })])).toEqual({
      code: -32602,
      message: 'Invalid chainId: 1',
    })
    expect(await error('eth_sendRawTransaction', ['0xzz'])).toEqual({
      code: -32602,
      message: 'Invalid data format: invalid hex value.',
    })
    expect((await error('eth_sendRawTransaction', ['0xf8'])).message).toMatch(/^Invalid input: /)
    const typed = await new Wallet(A_KEY).signTransaction({
      type: 2,
      to: B,
      gasLimit: 21000,
      nonce,
      chainId: 33,
    })
    expect((await error('eth_sendRawTransaction', [typed])).code).toBe(-32602)

    const before = Number(await t.call('eth_blockNumber'))
    expect(await error('eth_sendTransaction', [{ from: A, data: RB }])).toMatchObject({
      code: -32015,
      message: 'VM Exception while processing transaction: revert boom',
    })
    expect(Number(await t.call('eth_blockNumber'))).toBe(before + 1)
    const block = await t.call('eth_getBlockByNumber', 'latest', false)
    expect((await t.call('eth_getTransactionReceipt', block.transactions[0])).status).toBe('0x0')

    const signature = await t.call('eth_sign', A, '0xdeadbeef')
    expect(signature).toMatch(/^0x.{128}(1b|1c)$/)
    const { verifyMessage, getBytes } = await import('ethers')
    expect(verifyMessage(getBytes('0xdeadbeef'), signature).toLowerCase()).toBe(A)
    expect(await error('eth_sign', [N, '0x00'])).toEqual({ code: -32602, message: 'Account not found' })
    expect(hash).toMatch(/^0x/)
  })
})
