import { encryptKeystoreJson, Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../src/chain/signature.ts'
import { fromHex, toHex } from '../../../src/encoding/hex.ts'
import {
  addressOfEncrypted,
  decryptKey,
  type EncryptedKey,
  encryptKey,
  parseEncryptedKey,
  STANDARD_COST,
} from '../../../src/engine/wallet/encrypted-key.ts'
import { fixture } from '../../support/fixture.ts'

const CHEAP = { n: 2, r: 1, p: 1 }
const KEY = new Uint8Array(32).fill(7)
const ADDRESS = addressOf(KEY)
/** scrypt reads the passphrase as a key of HMAC, which fills a key up with zero bytes (RFC 2104), so `''` and `'\0'` are one. */
const hmacKey = (passphrase: string) => passphrase.replace(/\0+$/, '')
const parsed = (value: unknown): EncryptedKey => {
  const encrypted = parseEncryptedKey(JSON.stringify(value))
  if (encrypted === undefined) throw new Error('not an encrypted key')
  return encrypted
}

describe('an encrypted key', () => {
  it('is decrypted with its passphrase and no other', async () => {
    const passphrase = fc.string({ unit: 'binary' })
    await fc.assert(
      fc.asyncProperty(passphrase, passphrase, async (passphrase, other) => {
        const encrypted = parsed(await encryptKey(KEY, ADDRESS, passphrase, CHEAP))
        expect(addressOfEncrypted(encrypted)).toBe(ADDRESS)
        expect(await decryptKey(encrypted, passphrase)).toEqual(KEY)
        if (hmacKey(other) !== hmacKey(passphrase)) expect(await decryptKey(encrypted, other)).toBeUndefined()
      }),
      { numRuns: 15, examples: [['\0', '']] },
    )
  })

  it('is readable by ethers, at the full cost', async () => {
    const text = JSON.stringify(await encryptKey(KEY, ADDRESS, 'motör head', STANDARD_COST))
    const wallet = await Wallet.fromEncryptedJson(text, 'motör head')
    expect(wallet.privateKey).toBe(toHex(KEY))
    expect(JSON.parse(text).crypto.kdfparams).toMatchObject({ n: 131_072, r: 8, p: 1, dklen: 32 })
  })

  it('may be written by ethers', async () => {
    const account = { address: ADDRESS, privateKey: toHex(KEY) }
    const text = await encryptKeystoreJson(account, 'moo', { scrypt: { N: 2, r: 1, p: 1 } })
    const encrypted = parseEncryptedKey(text) as EncryptedKey
    expect(await decryptKey(encrypted, 'moo')).toEqual(KEY)
    expect(await decryptKey(encrypted, 'Moo')).toBeUndefined()
  })

  it('is different each time, and does not contain the plain key', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => encryptKey(KEY, ADDRESS, 'moo', CHEAP)))
    expect(one?.id).not.toBe(two?.id)
    expect(one?.crypto.ciphertext).not.toBe(two?.crypto.ciphertext)
    expect(JSON.stringify(one)).not.toContain(toHex(KEY).slice(2))
  })

  it.each(fixture<{ name: string; passphrase: string; key: string; file: object }[]>('keystore/v3.json'))(
    'decrypts from a published file: $name',
    async ({ passphrase, key, file }) => {
      expect(toHex((await decryptKey(parsed(file), passphrase)) ?? new Uint8Array())).toBe(`0x${key}`)
      expect(addressOf(fromHex(`0x${key}`))).toBe(addressOfEncrypted(parsed(file)))
    },
  )
})

describe('other texts', async () => {
  const good = await encryptKey(KEY, ADDRESS, 'moo', CHEAP)
  const { crypto } = good
  const costing = (change: object) => ({
    ...good,
    crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, ...change } },
  })

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['half a file', JSON.stringify(good).slice(0, 100)],
    ['null', 'null'],
    ['another version', { ...good, version: 4 }],
    ['no address', { ...good, address: undefined }],
    ['a short address', { ...good, address: '00' }],
    ['another cipher', { ...good, crypto: { ...crypto, cipher: 'aes-128-cbc' } }],
    ['a short initial vector', { ...good, crypto: { ...crypto, cipherparams: { iv: '00' } } }],
    ['a short key', { ...good, crypto: { ...crypto, ciphertext: '00' } }],
    ['another way to stretch', { ...good, crypto: { ...crypto, kdf: 'argon2' } }],
    ['a cost that is not a power of two', costing({ n: 3 })],
    ['a cost of 1', costing({ n: 1 })],
    ['a cost beyond what scrypt has', costing({ n: 2 ** 16, r: 1 })],
    ['a cost beyond all memory', costing({ n: 2 ** 30, r: 64 })],
    ['a cost beyond all time', costing({ p: 2 ** 30 })],
    ['another length', costing({ dklen: 16 })],
  ])('is skipped: %s', (_, content) => {
    expect(parseEncryptedKey(typeof content === 'string' ? content : JSON.stringify(content))).toBeUndefined()
  })
})
