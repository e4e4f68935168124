import { HDNodeWallet, Mnemonic } from 'ethers'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../src/encoding/hex.ts'
import { createAccounts, type LocalAccounts, MINER_ADDRESS } from '../../../src/engine/wallet/accounts.ts'
import { fixture } from '../../support/fixture.ts'

const LOCAL = fixture<{ secret: string; address: string; key: string }[]>('accounts/local.json')
const JUNK = 'test test test test test test test test test test test junk'

function keysOf(accounts: LocalAccounts): string[] {
  return accounts.list().map((address) => toHex(accounts.key(address) ?? new Uint8Array()))
}

describe('local accounts', () => {
  it("equal those of the reference node, the miner's last", async () => {
    const accounts = await createAccounts({ enabled: true, isLocal: true })
    expect(accounts.list()).toEqual(LOCAL.map(({ address }) => address))
    expect(keysOf(accounts)).toEqual(LOCAL.map(({ key }) => key))
    expect(MINER_ADDRESS).toBe(LOCAL.at(-1)?.address)
    expect(accounts.toFund).toEqual(accounts.list().slice(0, 10))
    expect(accounts.enabled).toBe(true)
    expect(accounts.has(MINER_ADDRESS)).toBe(true)
    expect(accounts.has('0x0000000000000000000000000000000000000001')).toBe(false)
    expect(accounts.key('0x0000000000000000000000000000000000000001')).toBeUndefined()
  })

  it.each([0, 1, 3, 12])('are as many as configured: %i', async (count) => {
    const accounts = await createAccounts({ enabled: true, isLocal: true, count })
    expect(accounts.list().length).toBe(count)
    expect(accounts.list().slice(0, 10)).toEqual(
      LOCAL.slice(0, Math.min(count, 10)).map(({ address }) => address),
    )
    expect(accounts.toFund).toEqual(accounts.list())
  })

  it('are none when the wallet is disabled', async () => {
    const accounts = await createAccounts({ enabled: false, isLocal: true, count: 3, mnemonic: JUNK })
    expect(accounts.list()).toEqual([])
    expect(accounts.toFund).toEqual([])
    expect(accounts.enabled).toBe(false)
  })

  it('do not exist on public networks unless configured, and are never funded', async () => {
    expect((await createAccounts({ enabled: true, isLocal: false })).list()).toEqual([])
    const asked = await createAccounts({ enabled: true, isLocal: false, count: 2 })
    expect(asked.list().length).toBe(2)
    expect(asked.toFund).toEqual([])
    expect((await createAccounts({ enabled: true, isLocal: false, mnemonic: JUNK })).list().length).toBe(10)
  })

  it('come from a mnemonic as client libraries derive them', async () => {
    const accounts = await createAccounts({
      enabled: true,
      isLocal: true,
      count: 4,
      mnemonic: ` ${JUNK}\n`,
    })
    const wallets = [0, 1, 2, 3].map((index) =>
      HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(JUNK), `m/44'/60'/0'/0/${index}`),
    )
    expect(accounts.list()).toEqual(wallets.map(({ address }) => address.toLowerCase()))
    expect(keysOf(accounts)).toEqual(wallets.map(({ privateKey }) => privateKey))
    expect(accounts.toFund).toEqual(accounts.list())
  })

  it('refuse a mnemonic with a wrong checksum or unknown words without repeating it', async () => {
    for (const mnemonic of [JUNK.replace('junk', 'test'), JUNK.replace('junk', 'xyzzy'), 'test junk']) {
      const creating = createAccounts({ enabled: true, isLocal: true, mnemonic })
      await expect(creating).rejects.toMatchObject({ kind: 'invalid-options' })
      await expect(creating).rejects.not.toThrow(/xyzzy|junk/)
    }
  })
})
