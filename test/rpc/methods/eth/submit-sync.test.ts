/** Transactions that are sent and waited for (EIP-7966), sent again, and sent without a key. */
import { Transaction, Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { A, B, COW_KEY } from '../../../support/fake-chain.ts'

const NOBODY = '0x00000000000000000000000000000000000dead1'
const wallet = new Wallet(`0x${Buffer.from(COW_KEY).toString('hex')}`)
const sign = (nonce: number, fields: object = {}) =>
  wallet.signTransaction({
    type: 0,
    nonce,
    gasPrice: 1,
    gasLimit: 100_000,
    chainId: 33,
    to: NOBODY,
    value: 1,
    ...fields,
  })

let node: Node
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
const hashOf = (raw: string) => Transaction.from(raw).hash

describe('with a block for each transaction', () => {
  beforeEach(async () => {
    node = await createNode()
  })
  afterEach(() => node.close())

  it('the receipt is returned at once, that of a failed transaction too', async () => {
    const receipt = await ask('eth_sendRawTransactionSync', await sign(0))
    expect(receipt).toMatchObject({ status: '0x1', blockNumber: '0x1', from: A, to: NOBODY })
    // PUSH1 0, PUSH1 0, REVERT
    const failed = await ask(
      'eth_sendRawTransactionSync',
      await sign(1, { to: null, data: '0x60006000fd' }),
      0,
    )
    expect(failed).toMatchObject({ status: '0x0', blockNumber: '0x2', to: null })
    expect(await ask('eth_getTransactionReceipt', hashOf(await sign(0)))).toEqual(receipt)
    expect(await ask('eth_sendTransactionSync', { from: B, to: NOBODY, maxFeePerGas: '0x3' })).toMatchObject({
      status: '0x1',
      from: B,
      effectiveGasPrice: '0x3',
    })
  })

  it('a transaction behind a missing nonce is refused with code 5 and stays queued', async () => {
    const raw = await sign(2)
    await expect(ask('eth_sendRawTransactionSync', raw)).rejects.toMatchObject({ code: 5, data: hashOf(raw) })
    expect(await ask('txpool_status')).toEqual({ pending: 0, queued: 1 })
  })

  it('any account sends without a key', async () => {
    await ask('hardhat_setBalance', NOBODY, '0xffffffff')
    await expect(ask('eth_sendTransaction', { from: NOBODY, to: B, value: '0x1' })).rejects.toMatchObject({
      code: -32602,
    })
    const hash = await ask('eth_sendUnsignedTransaction', {
      from: NOBODY,
      to: B,
      value: '0x1',
      maxFeePerGas: 2,
    })
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({
      from: NOBODY,
      gasPrice: '0x2',
      nonce: '0x0',
    })
    // One of the node's own accounts is signed for.
    const signed = (await ask('eth_sendUnsignedTransaction', { from: A, to: B, gasPrice: '0x1' })) as string
    expect(
      Transaction.from((await ask('eth_getRawTransactionByHash', signed)) as string).from?.toLowerCase(),
    ).toBe(A)
  })
})

describe('without mining', () => {
  beforeEach(async () => {
    node = await createNode({ mining: 'manual' })
  })
  afterEach(() => node.close())

  it('the receipt is returned when the block is mined', async () => {
    const waiting = ask('eth_sendRawTransactionSync', await sign(0), 20_000)
    const isPooled = async () => ((await ask('txpool_status')) as { pending: number }).pending === 1
    while (!(await isPooled())) await new Promise(setImmediate)
    await ask('evm_mine')
    await ask('evm_mine')
    expect(await waiting).toMatchObject({ blockNumber: '0x1', transactionHash: hashOf(await sign(0)) })
  })

  it('the error with code 4 after the timeout has the hash, and the transaction stays in the pool', async () => {
    const raw = await sign(0)
    await expect(ask('eth_sendRawTransactionSync', raw, 1)).rejects.toMatchObject({
      code: 4,
      message: "The transaction was added to the pool but wasn't mined in 1 ms.",
      data: hashOf(raw),
    })
    expect(await ask('txpool_status')).toMatchObject({ pending: 1 })
    await expect(ask('eth_sendRawTransactionSync', raw, -1)).rejects.toMatchObject({ code: -32602 })
  })

  it('a pooled transaction can be sent again at another price', async () => {
    const request = { from: A, to: B, gas: '0x5208', gasPrice: '0x64', nonce: '0x0' }
    const first = await ask('eth_sendTransaction', request)
    const second = await ask('eth_resend', request, '0xc8')
    expect(second).not.toBe(first)
    expect(await ask('eth_getTransactionByHash', second)).toMatchObject({ gasPrice: '0xc8', gas: '0x5208' })
    expect(await ask('eth_getTransactionByHash', first)).toBeNull()
    const third = await ask('eth_resend', { ...request, gasPrice: '0x190' }, null, '0x7530')
    expect(await ask('eth_getTransactionByHash', third)).toMatchObject({ gasPrice: '0x190', gas: '0x7530' })
  })

  it('a transaction that is not in the pool is not sent again', async () => {
    const request = { from: A, to: B, nonce: '0x1' }
    await expect(ask('eth_resend', request)).rejects.toMatchObject({
      code: -32602,
      message: `transaction: ${A} has no waiting transaction with nonce 1`,
    })
    await expect(ask('eth_resend', { from: A, to: B })).rejects.toMatchObject({
      code: -32602,
      message: 'transaction.nonce: expected the nonce of a waiting transaction',
    })
  })
})
