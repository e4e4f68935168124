import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { addressOf } from '../../../src/chain/signature.ts'
import { keccak256 } from '../../../src/encoding/hash.ts'
import { createKeyStore } from '../../../src/engine/wallet/key-store.ts'
import { keyFilesIn } from '../../../src/store/key-files.ts'

const KEY = keccak256(Uint8Array.of(1))
const milliseconds = () => 0

const folder = await mkdtemp(join(tmpdir(), 'tandem-keys-'))
afterAll(() => rm(folder, { recursive: true }))

describe('keys under a passphrase', () => {
  it.each([
    ['in memory take little work to open', undefined, 4096],
    ['in files take the work that protects a file', folder, 131_072],
  ])('%s', async (_, place, n) => {
    const store = createKeyStore({ files: place === undefined ? undefined : keyFilesIn(place), milliseconds })
    const address = await store.add(KEY, 'moo')
    expect(address).toBe(addressOf(KEY))
    expect(store.entries().map(({ encrypted }) => encrypted.crypto)).toMatchObject([{ kdfparams: { n } }])
    expect(await store.open(address, 'moo')).toEqual(KEY)
    await expect(store.open(address, 'mo')).rejects.toThrow(/passphrase/)
  })
})
