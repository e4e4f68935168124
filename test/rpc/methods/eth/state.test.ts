/** Reading accounts (acceptance checks 41 to 62 and 220). */
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/encoding/hex.ts'
import { A, B, block0, CODE, CONTRACT, N, sideBlock, UNKNOWN } from '../../../support/fake-chain.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

const dispatcher = dispatcherOf(fakeEngine().engine)
const read = (method: string, ...params: unknown[]) => ask(dispatcher, method, params)
const RICH = '0xc9f2c9cd04674edea40000000'

describe('eth_getBalance', () => {
  it.each([
    ['the head by default', [B]],
    ['a tag', [B, 'earliest']],
    ['hex', [B, '0x0']],
    ['a hash as text', [B, block0.hash]],
    ['an object with a height', [B, { blockNumber: '0x0' }]],
    ['an object with a hash', [B, { blockHash: block0.hash }]],
    ['an address in capitals without 0x', [B.slice(2).toUpperCase(), 'latest']],
  ])('accepts %s', async (_, params) => {
    expect(await read('eth_getBalance', ...params)).toEqual({ result: RICH })
  })

  it('is zero for an account that does not exist', async () => {
    expect(await read('eth_getBalance', N, 'latest')).toEqual({ result: '0x0' })
  })

  it.each<[unknown, number, string]>([
    ['0xffffff', -32600, 'Block 0xffffff not found'],
    [{ blockNumber: '0xffffff' }, -32600, 'Block 0xffffff not found'],
    [UNKNOWN, -32600, `Block ${UNKNOWN} not found`],
    [{ blockHash: UNKNOWN }, -32600, `Block with hash ${UNKNOWN} not found`],
    [
      { blockHash: sideBlock.hash, requireCanonical: true },
      -32600,
      `Block with hash ${sideBlock.hash} is not canonical and it is required`,
    ],
    ['5', -32602, 'invalid blocknumber 5'],
    ['foo', -32602, "Invalid block identifier 'foo'"],
    [{}, -32602, 'Invalid block input'],
  ])('refuses the block %j', async (block, code, message) => {
    expect(await read('eth_getBalance', A, block)).toEqual({ error: { code, message } })
  })
})

describe('eth_getTransactionCount', () => {
  it('counts at a block, at the head by default, and the pool with pending', async () => {
    expect(await read('eth_getTransactionCount', A)).toEqual({ result: '0x3' })
    expect(await read('eth_getTransactionCount', A, 'latest')).toEqual({ result: '0x3' })
    expect(await read('eth_getTransactionCount', A, '0x0')).toEqual({ result: '0x0' })
    expect(await read('eth_getTransactionCount', A, 'pending')).toEqual({ result: '0x4' })
  })

  it('reads the given block, also a side block', async () => {
    expect(await read('eth_getTransactionCount', A, { blockHash: sideBlock.hash })).toEqual({
      result: '0x4d',
    })
    const canonical = { blockHash: sideBlock.hash, requireCanonical: 'false' }
    expect(await read('eth_getTransactionCount', A, canonical)).toEqual({ result: '0x4d' })
  })
})

describe('eth_getCode', () => {
  it('returns code, 0x without code, and null at a block that does not exist', async () => {
    expect(await read('eth_getCode', CONTRACT, 'latest')).toEqual({ result: toHex(CODE) })
    expect(await read('eth_getCode', CONTRACT, block0.hash)).toEqual({ result: toHex(CODE) })
    expect(await read('eth_getCode', A, 'pending')).toEqual({ result: '0x' })
    expect(await read('eth_getCode', N, 'latest')).toEqual({ result: '0x' })
    expect(await read('eth_getCode', N, '0xffffff')).toEqual({ result: null })
    expect(await read('eth_getCode', N, UNKNOWN)).toEqual({ result: null })
  })

  it('refuses a missing block that is given by hash', async () => {
    const message = `Block with hash ${UNKNOWN} not found`
    expect(await read('eth_getCode', N, { blockHash: UNKNOWN })).toEqual({ error: { code: -32600, message } })
  })
})

describe('eth_getStorageAt', () => {
  const word = (value: string) => `0x${value.padStart(64, '0')}`

  it('returns the word in a slot by hex or decimal position', async () => {
    expect(await read('eth_getStorageAt', CONTRACT, '0x1', 'latest')).toEqual({ result: word('beef') })
    expect(await read('eth_getStorageAt', CONTRACT, word('1'), 'latest')).toEqual({ result: word('beef') })
    expect(await read('eth_getStorageAt', N, '0', 'latest')).toEqual({ result: word('0') })
  })

  it('refuses a bad position and a missing block', async () => {
    expect(await read('eth_getStorageAt', N, 'abc g', 'latest')).toEqual({
      error: { code: -32602, message: 'Invalid param abc g: value must be a valid hex or string number.' },
    })
    expect(await read('eth_getStorageAt', N, '0x0')).toEqual({
      error: { code: -32602, message: 'method parameters invalid' },
    })
  })
})

describe('eth_getProof', () => {
  it('has quantities for values and 32 bytes for keys', async () => {
    const { result } = await read('eth_getProof', A, ['0x2', `0x${'3'.padStart(64, '0')}`], 'latest')
    expect(result).toMatchObject({ address: A, balance: RICH, nonce: '0x3', accountProof: ['0x81c0'] })
    expect(result).toMatchObject({
      storageProof: [
        { key: `0x${'2'.padStart(64, '0')}`, value: '0x2', proof: [] },
        { key: `0x${'3'.padStart(64, '0')}`, value: '0x3', proof: [] },
      ],
    })
    expect(Object.keys(result as object)).toEqual([
      'address',
      'accountProof',
      'balance',
      'codeHash',
      'nonce',
      'storageHash',
      'storageProof',
    ])
  })

  it('shows an account that does not exist as empty', async () => {
    const { result } = await read('eth_getProof', N, [], 'latest')
    expect(result).toMatchObject({ address: N, balance: '0x0', nonce: '0x0' })
  })

  it('names the bad parameter', async () => {
    expect(await read('eth_getProof', A, '0x0', 'latest')).toEqual({
      error: { code: -32602, message: 'Invalid storageKeys: expected an array of at most 1024 keys.' },
    })
    expect(await read('eth_getProof', A, [null], 'latest')).toEqual({
      error: { code: -32602, message: 'Invalid storageKeys: expected a hex or decimal number.' },
    })
  })
})
