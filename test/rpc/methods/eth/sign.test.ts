/** Signing at the edge, with keys of the node (acceptance check 113). */
import { verifyMessage, verifyTypedData } from 'ethers'
import { describe, expect, it } from 'vitest'
import { decodeTransaction } from '../../../../src/chain/transaction.ts'
import { fromHex, type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { A, B, N, pooled } from '../../../support/fake-chain.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

const refusal = (code: number, message: string) => ({ error: { code, message } })
const noWallet = refusal(-32602, 'Local wallet is disabled in this node')

async function send(method: string, ...params: unknown[]) {
  const { engine, calls } = fakeEngine()
  return { outcome: await ask(dispatcherOf(engine), method, params), calls }
}

const typed = {
  types: { Mail: [{ name: 'contents', type: 'string' }] },
  primaryType: 'Mail',
  domain: { name: 'Mail', chainId: 33 },
  message: { contents: 'Hello' },
}

describe('every method that signs', () => {
  it.each([
    ['eth_sign', [A, '0x']],
    ['eth_signTransaction', [{ from: A }]],
    ['eth_signTypedData_v4', [A, typed]],
  ])('%s requires the wallet', async (method, params) => {
    const { engine } = fakeEngine({ wallet: false })
    expect(await ask(dispatcherOf(engine), method, params)).toEqual(noWallet)
  })

  it.each([
    ['eth_sign', [N, '0x'], 'Account not found'],
    ['eth_signTransaction', [{ from: N }], `Could not find account for address: ${N}`],
    ['eth_signTypedData_v4', [N, typed], 'Account not found'],
  ])('%s requires the account', async (method, params, message) => {
    expect((await send(method, ...params)).outcome).toEqual(refusal(-32602, message))
  })
})

describe('eth_sign', () => {
  it('signs as a personal message', async () => {
    const { outcome } = await send('eth_sign', A, '0xdeadbeef')
    const signature = outcome.result as Hex
    expect(fromHex(signature).length).toBe(65)
    expect(verifyMessage(fromHex('0xdeadbeef'), signature).toLowerCase()).toBe(A)
  })
})

describe('eth_signTransaction', () => {
  it('passes the request to the wallet and sends nothing', async () => {
    const { outcome, calls } = await send('eth_signTransaction', {
      from: A,
      to: B,
      value: '0x1',
      nonce: '0x7',
    })
    expect(outcome).toEqual({ result: toHex(pooled.raw) })
    expect(decodeTransaction(fromHex(outcome.result as Hex)).hash).toBe(pooled.hash)
    expect(calls).toEqual([{ name: 'sign', args: [{ from: A, to: B, value: 1n, nonce: 7n }] }])
  })

  it('refuses a missing sender and another chain id', async () => {
    const asked = async (transaction: object) => (await send('eth_signTransaction', transaction)).outcome
    expect(await asked({ to: B })).toEqual(refusal(-32602, 'from is null'))
    expect(await asked({ from: A, chainId: '0x1' })).toEqual(refusal(-32602, 'Invalid chainId: 0x1'))
  })
})

describe('eth_signTypedData_v4', () => {
  it.each(['eth_signTypedData_v4', 'eth_signTypedData'])('%s signs an object or its text', async (method) => {
    const { outcome } = await send(method, A, typed)
    expect((await send(method, A, JSON.stringify(typed))).outcome).toEqual(outcome)
    const signer = verifyTypedData(typed.domain, typed.types, typed.message, outcome.result as Hex)
    expect(signer.toLowerCase()).toBe(A)
  })

  it.each([
    null,
    'no JSON',
    '[]',
    [],
    {},
    { ...typed, types: { Mail: 'string' } },
    { ...typed, types: { Mail: [{ name: 'contents' }] } },
    { ...typed, primaryType: 5 },
    { ...typed, domain: null },
    { ...typed, message: [] },
  ])('refuses %j', async (data) => {
    expect((await send('eth_signTypedData_v4', A, data)).outcome).toEqual(
      refusal(-32602, 'Invalid typedData: expected an object with types, primaryType, domain and message.'),
    )
  })

  it('names the member that does not match', async () => {
    const { outcome } = await send('eth_signTypedData_v4', A, { ...typed, message: { words: 'Hello' } })
    expect(outcome).toEqual(refusal(-32602, 'Invalid typedData: unexpected field words in Mail'))
  })
})
