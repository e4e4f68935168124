import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { addressOf } from '../../../src/chain/signature.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createRandomness } from '../../../src/engine/randomness.ts'
import type { Accounts } from '../../../src/engine/wallet/accounts.ts'
import { createKeyStore, openKeyStore } from '../../../src/engine/wallet/key-store.ts'
import { createWallet, UNLOCK_MS, type Wallet } from '../../../src/engine/wallet/wallet.ts'
import { silentLogger } from '../../../src/logger.ts'
import { keyFilesIn } from '../../../src/store/key-files.ts'
import { CHEAP } from '../../support/fake-engine.ts'
import { saying } from '../../support/refusals.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const random = createRandomness(undefined)
const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const LOCAL = addressOf(keyOf(1))
const STORED = addressOf(keyOf(2))
const NOBODY: Hex = '0x00000000000000000000000000000000000dead1'
const START = Date.UTC(2026, 0, 2, 3, 4, 5)

function localAccounts(): Accounts {
  const key = keyOf(1)
  return {
    enabled: true,
    list: () => [LOCAL],
    has: (address) => address === LOCAL,
    key: (address) => (address === LOCAL ? key : undefined),
  }
}

/** Only the clock stands still; what happens off the thread takes its real time. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START })
})
afterEach(() => {
  vi.useRealTimers()
})

function memoryWallet(): Wallet {
  const keyStore = createKeyStore({ cost: CHEAP, milliseconds: Date.now })
  return createWallet({ local: localAccounts(), keyStore, milliseconds: Date.now, random })
}

async function diskWallet(folder: string, logger = silentLogger): Promise<Wallet> {
  const parts = { files: keyFilesIn(folder), cost: CHEAP, milliseconds: Date.now }
  const keyStore = await openKeyStore(parts, logger)
  return createWallet({ local: localAccounts(), keyStore, milliseconds: Date.now, random })
}

describe('a wallet', () => {
  it('lists accounts with plain keys, then encrypted ones, locked or not', async () => {
    const wallet = memoryWallet()
    const made = await wallet.create('moo')
    const seeded = wallet.addSeed('cow')
    expect(await wallet.importKey(keyOf(2), 'moo')).toBe(STORED)
    expect(wallet.list()).toEqual([LOCAL, seeded, made, STORED])
    wallet.lock(STORED)
    expect(wallet.list()).toEqual([LOCAL, seeded, made, STORED])
    expect(wallet.has(STORED)).toBe(true)
    expect(wallet.has(NOBODY)).toBe(false)
  })

  it('makes a different account each time', async () => {
    const wallet = memoryWallet()
    const made = await Promise.all([1, 2, 3].map(() => wallet.create('moo')))
    expect(new Set(made).size).toBe(3)
    for (const address of made) expect(addressOf(wallet.key(address) as Uint8Array)).toBe(address)
  })

  it('locks an encrypted account until its passphrase is given', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    expect(wallet.key(STORED)).toEqual(keyOf(2))
    expect(wallet.lock(STORED)).toBe(true)
    expect(wallet.lock(STORED)).toBe(false)
    expect(wallet.key(STORED)).toBeUndefined()
    await expect(wallet.unlock(STORED, 'Moo', 1000)).rejects.toMatchObject({ kind: 'wrong-passphrase' })
    expect(wallet.key(STORED)).toBeUndefined()
    expect(await wallet.unlock(STORED, 'moo', 1000)).toBe(true)
    expect(wallet.key(STORED)).toEqual(keyOf(2))
  })

  it('overwrites a key when it is locked', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    const keys = [wallet.key(STORED), wallet.key(LOCAL)]
    wallet.lock(STORED)
    wallet.lock(LOCAL)
    expect(keys).toEqual([keyOf(0), keyOf(0)])
  })

  it('removes a locked account whose key is not encrypted', () => {
    const wallet = memoryWallet()
    expect(wallet.lock(LOCAL)).toBe(true)
    expect(wallet.list()).toEqual([])
    expect(wallet.key(LOCAL)).toBeUndefined()
    expect(wallet.lock(NOBODY)).toBe(false)
    expect(wallet.addSeed('cow')).toBe('0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826')
    expect(wallet.list()).toEqual(['0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'])
  })

  it('keeps an account unlocked when its plain key is encrypted too, and locks both at once', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(1), 'moo')
    expect(wallet.list()).toEqual([LOCAL])
    vi.advanceTimersByTime(UNLOCK_MS)
    expect(wallet.key(LOCAL)).toEqual(keyOf(1))
    expect(await wallet.unlock(LOCAL, 'moo', 1000)).toBe(true)
    expect(wallet.lock(LOCAL)).toBe(true)
    expect(wallet.key(LOCAL)).toBeUndefined()
    expect(wallet.list()).toEqual([LOCAL])
  })

  it('decrypts an encrypted key for one use and leaves the account locked', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    wallet.lock(STORED)
    expect(await wallet.open(STORED, 'moo')).toEqual(keyOf(2))
    expect(wallet.key(STORED)).toBeUndefined()
    expect(await wallet.open(LOCAL, 'moo')).toBeUndefined()
    await expect(wallet.open(STORED, '')).rejects.toThrow(
      saying(`Invalid passphrase: it does not open account ${STORED}`),
    )
  })

  it('sets a new passphrase together with the key, and no longer accepts the old one', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    await wallet.importKey(keyOf(2), 'baa')
    await expect(wallet.unlock(STORED, 'moo', 1)).rejects.toThrow(
      saying(`Invalid passphrase: it does not open account ${STORED}`),
    )
    expect(await wallet.unlock(STORED, 'baa', 1)).toBe(true)
    expect(wallet.list()).toEqual([LOCAL, STORED])
  })

  it('refuses passphrases above the limit of waiting ones, and serves later ones', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    const asked = await Promise.allSettled(Array.from({ length: 80 }, () => wallet.open(STORED, 'moo')))
    const refused = asked.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBe(16)
    expect(refused[0]).toMatchObject({ reason: { kind: 'overloaded' } })
    expect(await wallet.open(STORED, 'moo')).toEqual(keyOf(2))
  })
})

describe('an unlocked account', () => {
  it('is locked by a timer', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    const key = wallet.key(STORED)
    vi.advanceTimersByTime(UNLOCK_MS - 1)
    expect(key).toEqual(keyOf(2))
    vi.advanceTimersByTime(1)
    expect(key).toEqual(keyOf(0))
    expect(wallet.key(STORED)).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is locked on time although the timer is late', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    vi.setSystemTime(START + UNLOCK_MS)
    expect(wallet.key(STORED)).toBeUndefined()
    expect(wallet.lock(STORED)).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('stays unlocked from the last unlock on, for a longer or a shorter time', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    expect(await wallet.unlock(STORED, 'moo', 2 * UNLOCK_MS)).toBe(true)
    vi.advanceTimersByTime(UNLOCK_MS + 1)
    expect(wallet.key(STORED)).toBeDefined()
    await wallet.unlock(STORED, 'moo', 10)
    vi.advanceTimersByTime(10)
    expect(wallet.key(STORED)).toBeUndefined()
    await wallet.unlock(STORED, 'moo', 0)
    expect(wallet.key(STORED)).toBeUndefined()
  })

  it('stays unlocked beyond the longest possible timer', async () => {
    const wallet = memoryWallet()
    await wallet.importKey(keyOf(2), 'moo')
    const month = 2 ** 31
    await wallet.unlock(STORED, 'moo', 3 * month)
    vi.advanceTimersByTime(3 * month - 1)
    expect(wallet.key(STORED)).toBeDefined()
    vi.advanceTimersByTime(1)
    expect(wallet.key(STORED)).toBeUndefined()
    await wallet.unlock(STORED, 'moo', Number(2n ** 63n - 1n))
    expect(wallet.key(STORED)).toBeDefined()
  })
})

describe('a wallet on disk', () => {
  it('has its encrypted accounts after a restart, locked, oldest first', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    const wallet = await diskWallet(folder)
    const older = await wallet.create('one')
    vi.setSystemTime(START + 1)
    await wallet.importKey(keyOf(2), 'two')
    wallet.addSeed('cow')
    expect(readdirSync(folder).sort()).toEqual([
      `UTC--2026-01-02T03-04-05.000Z--${older.slice(2)}`,
      `UTC--2026-01-02T03-04-05.001Z--${STORED.slice(2)}`,
    ])

    const again = await diskWallet(folder)
    expect(again.list()).toEqual([LOCAL, older, STORED])
    expect(again.key(STORED)).toBeUndefined()
    expect(await again.unlock(STORED, 'two', 1000)).toBe(true)
    expect(again.key(STORED)).toEqual(keyOf(2))
  })

  it('replaces the old passphrase', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    const wallet = await diskWallet(folder)
    await wallet.importKey(keyOf(2), 'moo')
    vi.setSystemTime(START + 1)
    await wallet.importKey(keyOf(2), 'baa')
    expect(readdirSync(folder).length).toBe(1)
    const again = await diskWallet(folder)
    await expect(again.unlock(STORED, 'moo', 1)).rejects.toThrow(
      saying(`Invalid passphrase: it does not open account ${STORED}`),
    )
    expect(await again.unlock(STORED, 'baa', 1)).toBe(true)
  })

  it('ignores files that are not keys, with a warning', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    await (await diskWallet(folder)).importKey(keyOf(2), 'moo')
    writeFileSync(join(folder, 'notes.txt'), 'buy milk')
    const warn = vi.fn()
    expect((await diskWallet(folder, { ...silentLogger, warn })).list()).toEqual([LOCAL, STORED])
    expect(warn.mock.calls).toEqual([[expect.any(String), { name: 'notes.txt' }]])
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('buy milk')
  })

  it('refuses a key file whose key is not that of its address', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    await (await diskWallet(folder)).importKey(keyOf(2), 'moo')
    const [name] = readdirSync(folder) as [string]
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(STORED.slice(2), LOCAL.slice(2)))
    const wallet = await diskWallet(folder)
    await expect(wallet.unlock(LOCAL, 'moo', 1)).rejects.toThrow(
      saying(`Invalid address: the key file of ${LOCAL} holds another key`),
    )
  })

  it('does not list an account whose file could not be written', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    const wallet = await diskWallet(folder)
    writeFileSync(folder, 'in the way')
    await expect(wallet.importKey(keyOf(2), 'moo')).rejects.toThrow()
    expect(wallet.list()).toEqual([LOCAL])
    expect(wallet.key(STORED)).toBeUndefined()
  })
})
