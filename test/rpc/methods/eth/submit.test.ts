/** Sending at the edge (acceptance checks 94 to 114). */
import { describe, expect, it } from 'vitest'
import { keccak256 } from '../../../../src/encoding/hash.ts'
import { fromHex, toHex } from '../../../../src/encoding/hex.ts'
import type { ReceiptView, Submitted } from '../../../../src/engine/model.ts'
import { NodeError } from '../../../../src/errors.ts'
import type { Failure } from '../../../../src/evm/failure-message.ts'
import { A, B, block1, creation, N, pooled, transfer, UNKNOWN } from '../../../support/fake-chain.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

const refusal = (code: number, message: string) => ({ error: { code, message } })
const noWallet = refusal(-32602, 'Local wallet is disabled in this node')

async function send(method: string, ...params: unknown[]) {
  const { engine, calls } = fakeEngine()
  return { outcome: await ask(dispatcherOf(engine), method, params), calls }
}

describe('eth_sendRawTransaction', () => {
  it('submits transactions that are signed for this chain or without a chain id', async () => {
    for (const transaction of [transfer(3n), transfer(3n, { chainId: 0 })]) {
      const { outcome, calls } = await send('eth_sendRawTransaction', toHex(transaction.raw))
      expect(outcome).toEqual({ result: toHex(keccak256(transaction.raw)) })
      expect(calls).toEqual([{ name: 'submit', args: [transaction] }])
    }
  })

  it.each([
    [toHex(transfer(0n, { chainId: 1 }).raw), 'Invalid chainId: 1'],
    ['0xzz', 'Invalid data format: invalid hex value.'],
    [
      '0xf8',
      "Invalid input: The RLP byte array doesn't have enough space to hold an element with the specified length",
    ],
    ['0x', 'Invalid raw transaction: it is empty'],
    ['0xc0', 'Invalid raw transaction: it must have exactly 9 elements, not 0'],
    [
      `0x02${toHex(transfer(0n).raw).slice(2)}`,
      'Invalid raw transaction: typed transactions (type 0x2) are not accepted by this chain, only legacy ones',
    ],
    [null, 'Invalid transaction: expected hex text.'],
  ])('refuses %s', async (raw, words) => {
    const { outcome, calls } = await send('eth_sendRawTransaction', raw)
    expect(outcome).toEqual({ error: { code: -32602, message: words } })
    expect(calls).toEqual([])
  })

  it('refuses data that are far too long without decoding them', async () => {
    const { outcome, calls } = await send('eth_sendRawTransaction', `0xfa1e8480${'c0'.repeat(2_000_000)}`)
    expect(outcome).toEqual(
      refusal(-32010, "transaction's size is higher than defined maximum: 2000004 > 131072"),
    )
    expect(calls).toEqual([])
  })

  it('passes on the refusal of the pool', async () => {
    const submit = async () => {
      throw new NodeError('transaction-refused', 'transaction nonce too low')
    }
    const { engine } = fakeEngine({ commands: { submit } })
    expect(await ask(dispatcherOf(engine), 'eth_sendRawTransaction', [toHex(pooled.raw)])).toEqual(
      refusal(-32010, 'transaction nonce too low'),
    )
  })
})

describe('eth_sendTransaction', () => {
  it('passes the request to the wallet', async () => {
    const request = { from: A, to: B, value: '0x1', gasLimit: '0x5208', nonce: '0x7', chainId: '0x21' }
    const { outcome, calls } = await send('eth_sendTransaction', request)
    expect(outcome).toEqual({ result: UNKNOWN })
    expect(calls[0]?.args).toEqual([{ from: A, to: B, value: 1n, gas: 21_000n, nonce: 7n }])
  })

  it('leaves defaults to the wallet', async () => {
    expect((await send('eth_sendTransaction', { from: A, chainId: 0 })).calls[0]?.args).toEqual([{ from: A }])
  })

  it.each([
    [{ to: B }, 'from is null'],
    [{ from: N, to: B }, `Could not find account for address: ${N}`],
    [{ from: A, to: B, chainId: '0x1' }, 'Invalid chainId: 0x1'],
    [{ from: A, to: B, chainId: '0x1234' }, 'Invalid chainId: 0x1234'],
  ])('refuses %j', async (request, message) => {
    expect((await send('eth_sendTransaction', request)).outcome).toEqual(refusal(-32602, message))
  })

  it('requires the wallet', async () => {
    const { engine } = fakeEngine({ wallet: false })
    expect(await ask(dispatcherOf(engine), 'eth_sendTransaction', [{ from: A }])).toEqual(noWallet)
  })
})

describe('a transaction that is mined at once', () => {
  const view: ReceiptView = {
    transaction: creation,
    receipt: block1.receipts[1] as ReceiptView['receipt'],
    block: block1,
    index: 1,
    firstLogIndex: 1,
  }
  async function sendMined(failure: Failure | undefined, options = {}) {
    const submitted: Submitted = {
      hash: creation.hash,
      mined: failure === undefined ? { view } : { view, failure },
    }
    const submit = async () => submitted
    const dispatcher = dispatcherOf(fakeEngine({ commands: { submit, send: submit } }).engine, options)
    const raw = await ask(dispatcher, 'eth_sendRawTransaction', [toHex(creation.raw)])
    expect(await ask(dispatcher, 'eth_sendTransaction', [{ from: A }])).toEqual(raw)
    return raw
  }
  const words = (end: string) => `VM Exception while processing transaction: ${end}`

  it('returns its hash when it succeeded', async () => {
    expect(await sendMined(undefined)).toEqual({ result: creation.hash })
  })

  const reverted: Failure = { kind: 'reverted', reason: 'revert boom', output: fromHex('0x08c379a0') }

  it('returns a revert with reason and payload', async () => {
    expect(await sendMined(reverted)).toEqual({
      error: {
        code: -32015,
        message: words('revert boom'),
        data: '0x08c379a0',
        transactionHash: creation.hash,
        reason: 'revert boom',
      },
    })
    expect(await sendMined({ ...reverted, reason: 'transaction reverted', output: fromHex('0x') })).toEqual({
      error: {
        code: -32015,
        message: words('transaction reverted'),
        data: '0x',
        transactionHash: creation.hash,
        reason: 'transaction reverted',
      },
    })
  })

  it('returns any other failure with the message of a revert, its reason and no data', async () => {
    const failure: Failure = { kind: 'failed', reason: 'out of gas', output: fromHex('0x') }
    const { error } = refusal(-32015, words('transaction reverted'))
    expect(await sendMined(failure)).toEqual({
      error: { ...error, transactionHash: creation.hash, reason: 'out of gas' },
    })
  })

  it('always returns the hash when so configured', async () => {
    expect(await sendMined(reverted, { minedReverts: 'hash' })).toEqual({ result: creation.hash })
  })
})

describe('eth_pendingTransactions', () => {
  it('shows pooled transactions of local accounts', async () => {
    const { outcome } = await send('eth_pendingTransactions')
    expect(outcome.result).toMatchObject([
      { hash: pooled.hash, blockHash: null, blockNumber: null, transactionIndex: null },
    ])
    const { engine } = fakeEngine({ wallet: false })
    expect(await ask(dispatcherOf(engine), 'eth_pendingTransactions')).toEqual({ result: [] })
  })
})
