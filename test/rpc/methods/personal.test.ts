/** The wallet at the edge (acceptance checks 205 to 210). */
import { verifyMessage } from 'ethers'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../src/chain/signature.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { A, B, COW_KEY, N, UNKNOWN } from '../../support/fake-chain.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { ask, dispatcherOf, type Outcome } from '../../support/rpc.ts'

const refusal = (message: string, code = -32602) => ({ error: { code, message } })
const KEY = new Uint8Array(32).fill(7)
const STORED = addressOf(KEY)

function node(options: Parameters<typeof fakeEngine>[0] = {}) {
  const { engine, calls } = fakeEngine(options)
  const dispatcher = dispatcherOf(engine)
  return {
    calls,
    ask: (method: string, ...params: unknown[]): Promise<Outcome> => ask(dispatcher, method, params),
  }
}

/** A node that keeps a key under "moo", locked. */
async function withStored() {
  const wallet = node()
  expect(await wallet.ask('personal_importRawKey', toHex(KEY), 'moo')).toEqual({ result: STORED })
  expect(await wallet.ask('personal_lockAccount', STORED)).toEqual({ result: true })
  return wallet
}

const typed = {
  types: { M: [{ name: 'a', type: 'bool' }] },
  primaryType: 'M',
  domain: {},
  message: { a: true },
}

describe('a disabled wallet', () => {
  it.each([
    ['personal_newAccount', ['pw']],
    ['personal_newAccountWithSeed', ['cow']],
    ['personal_importRawKey', [toHex(KEY), 'pw']],
    ['personal_dumpRawKey', [A]],
    ['personal_listAccounts', []],
    ['personal_unlockAccount', [A, 'pw', null]],
    ['personal_lockAccount', [A]],
    ['personal_sendTransaction', [{ from: A }, 'pw']],
    ['personal_sign', ['0x', A]],
    ['personal_ecRecover', ['0x', '0x']],
  ])('refuses %s', async (method, params) => {
    expect(await node({ wallet: false }).ask(method, ...params)).toEqual(
      refusal('The local wallet feature is disabled', -32604),
    )
  })
})

describe('a new account', () => {
  it('is listed and signs at once, until it is locked, and again when it is unlocked', async () => {
    const { ask } = node()
    const { result } = await ask('personal_newAccount', 'pw')
    const account = result as string
    expect((await ask('eth_accounts')).result).toEqual([A, B, account])
    expect((await ask('personal_listAccounts')).result).toEqual([A, B, account])
    const { result: signature } = await ask('eth_sign', account, '0x1234')
    expect(verifyMessage('0x1234', signature as string)).not.toBe(account)
    expect(verifyMessage(Uint8Array.of(0x12, 0x34), signature as string).toLowerCase()).toBe(account)
    expect(await ask('personal_lockAccount', account)).toEqual({ result: true })
    expect(await ask('personal_lockAccount', account)).toEqual({ result: false })
    expect(await ask('eth_sign', account, '0x1234')).toEqual(refusal('Account not found'))
    expect(await ask('personal_unlockAccount', account, 'pw', '0x927c0')).toEqual({ result: true })
    expect(await ask('eth_sign', account, '0x1234')).toEqual({ result: signature })
  })

  it('of a seed is unlocked, and removed when it is locked', async () => {
    const { ask } = node()
    const { result } = await ask('personal_newAccountWithSeed', 'barn')
    expect((await ask('eth_accounts')).result).toEqual([A, B, result])
    expect(await ask('personal_unlockAccount', result, 'pw', null)).toEqual({ result: false })
    expect(await ask('personal_lockAccount', result)).toEqual({ result: true })
    expect((await ask('eth_accounts')).result).toEqual([A, B])
    expect(await ask('personal_newAccountWithSeed', 5)).toEqual(await ask('personal_newAccountWithSeed', '5'))
  })
})

describe('a locked account', () => {
  it.each([
    ['eth_sign', [STORED, '0x'], 'Account not found'],
    ['eth_signTypedData_v4', [STORED, typed], 'Account not found'],
    ['personal_sign', ['0x', STORED], 'Account not found'],
    ['eth_signTransaction', [{ from: STORED }], `Could not find account for address: ${STORED}`],
    [
      'personal_dumpRawKey',
      [STORED],
      'Invalid address: its private key is locked or could not be found in this node',
    ],
  ])('for %s', async (method, params, message) => {
    const { ask } = await withStored()
    expect(await ask(method, ...params)).toEqual(refusal(message))
    expect(await ask('personal_unlockAccount', STORED, 'moo', '')).toEqual({ result: true })
    expect(await ask(method, ...params)).toHaveProperty('result')
  })
})

describe('a wrong passphrase', () => {
  it.each([
    ['personal_unlockAccount', [STORED, 'Moo', null]],
    ['personal_sendTransaction', [{ from: STORED }, 'Moo']],
    ['personal_sign', ['0x', STORED, 'Moo']],
  ])(
    'is an internal error of %s, as in the reference node, and unlocks no account',
    async (method, params) => {
      const { ask, calls } = await withStored()
      expect(await ask(method, ...params)).toEqual({
        error: { code: -32603, message: 'Internal server error' },
      })
      expect(await ask('eth_sign', STORED, '0x')).toEqual(refusal('Account not found'))
      expect(calls).toEqual([])
    },
  )
})

describe('personal_sendTransaction', () => {
  it('sends with the key, and leaves the account locked', async () => {
    const { ask, calls } = await withStored()
    expect(await ask('personal_sendTransaction', { from: STORED, to: B, value: '0x1' }, 'moo')).toEqual({
      result: UNKNOWN,
    })
    const [request, key] = calls[0]?.args ?? []
    expect(request).toEqual({ from: STORED, to: B, value: 1n })
    // Wiped once it was used.
    expect(key).toEqual(new Uint8Array(32))
    expect(await ask('eth_sign', STORED, '0x')).toEqual(refusal('Account not found'))
  })

  it('requires the passphrase although the account is unlocked', async () => {
    const { ask } = await withStored()
    await ask('personal_unlockAccount', STORED, 'moo', null)
    expect((await ask('personal_sendTransaction', { from: STORED }, '')).error?.code).toBe(-32603)
    expect(await ask('eth_sign', STORED, '0x')).toHaveProperty('result')
  })

  it.each([
    [{ to: B }, 'from is null'],
    [{ from: STORED, chainId: '0x1' }, 'Invalid chainId: 0x1'],
    [{ from: A }, `Could not find account for address: ${A}`],
    [{ from: N }, `Could not find account for address: ${N}`],
  ])('refuses %j', async (transaction, message) => {
    const { ask } = await withStored()
    expect(await ask('personal_sendTransaction', transaction, 'moo')).toEqual(refusal(message))
  })
})

describe('personal_sign', () => {
  const message = '0xdeadbeef'
  it('signs like eth_sign, with the parameters in either order', async () => {
    const { ask } = node()
    const signed = await ask('eth_sign', A, message)
    expect(await ask('personal_sign', message, A)).toEqual(signed)
    expect(await ask('personal_sign', A, message)).toEqual(signed)
    expect(await ask('personal_sign', message, A, 'any words')).toEqual(signed)
    expect(await ask('personal_sign', message, A, null)).toEqual(signed)
  })

  it('treats the second parameter as the signer when both could be', async () => {
    const { ask } = node()
    expect(await ask('personal_sign', A, B)).toEqual(await ask('eth_sign', B, A))
    expect(await ask('personal_sign', A, N)).toEqual(await ask('eth_sign', A, N))
    expect(await ask('personal_sign', N, STORED)).toEqual(refusal('Account not found'))
    expect(await ask('personal_sign', '0x', '0x12')).toEqual(
      refusal('Invalid address: null, empty or invalid hex value.'),
    )
  })

  it('accepts the passphrase of a locked account, which stays locked', async () => {
    const { ask } = await withStored()
    const { result } = await ask('personal_sign', message, STORED, 'moo')
    expect(await ask('personal_ecRecover', message, result)).toEqual({ result: STORED })
    expect(await ask('personal_sign', message, STORED)).toEqual(refusal('Account not found'))
  })
})

describe('parameters', () => {
  it.each<[string, unknown[], string]>([
    ['personal_newAccount', [null], 'Passphrase is null'],
    ['personal_newAccount', [{}], 'Invalid passphrase: expected a text.'],
    ['personal_newAccountWithSeed', [null], 'Seed is null'],
    ['personal_importRawKey', [null, 'pw'], 'Key cannot be null.'],
    ['personal_importRawKey', [toHex(KEY), null], 'Passphrase is null'],
    ['personal_importRawKey', ['zz', 'pw'], 'Invalid param zz: value must be a valid hex.'],
    [
      'personal_importRawKey',
      [toHex(KEY).replace('07', 'g7'), 'pw'],
      'Invalid param 0xg7…: value must be a valid hex.',
    ],
    ...['0x', '0x1234', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`, `${toHex(KEY)}00`].map(
      (key): [string, unknown[], string] => [
        'personal_importRawKey',
        [key, 'pw'],
        "Invalid key: expected 32 bytes in hex, more than zero and less than the curve's order.",
      ],
    ),
    [
      'personal_unlockAccount',
      [A, 'pw', '600'],
      'Invalid argument "600": param should be a hex value string.',
    ],
    ['personal_unlockAccount', [A, 'pw', 600], 'Invalid argument "600": param should be a hex value string.'],
    [
      'personal_unlockAccount',
      [A, 'pw', '0x927C0'],
      'Invalid argument "0x927C0": param should be a hex value string.',
    ],
    ['personal_unlockAccount', [A, 'pw', '0x'], 'Invalid duration param: value must be a valid hex number.'],
    [
      'personal_unlockAccount',
      [A, 'pw', `0x8${'0'.repeat(15)}`],
      'Invalid duration param: value must be a valid hex number.',
    ],
    ['personal_unlockAccount', [A, 'pw', `0x${'1'.repeat(70)}`], `Invalid argument: 0x${'1'.repeat(64)}...`],
    ['personal_unlockAccount', [A, 'pw', []], 'Invalid duration: expected a hex number of milliseconds.'],
    ['personal_unlockAccount', [A, 'pw'], 'method parameters invalid'],
    [
      'personal_ecRecover',
      ['0x', '0x1234'],
      'Invalid signature: expected r, s and v (27 or 28) in 65 bytes.',
    ],
  ])('of %s: %j are refused', async (method, params, message) => {
    expect(await node().ask(method, ...params)).toEqual(refusal(message))
  })

  it('allow a raw key without 0x', async () => {
    const { ask } = node()
    expect(await ask('personal_importRawKey', toHex(COW_KEY).slice(2), 'pw')).toEqual({ result: A })
    expect(await ask('personal_dumpRawKey', A)).toEqual({ result: toHex(COW_KEY) })
  })
})
