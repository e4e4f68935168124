/** The calls that the peg's tools make of Bitcoin Core, over a socket, and their forms. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ServedBitcoin } from './bitcoin-server.ts'

interface Unspent {
  readonly txid: string
  readonly vout: number
  readonly scriptPubKey: string
  readonly amount: number
  readonly address?: string
}
interface Signed {
  readonly hex: string
  readonly complete: boolean
  readonly errors?: readonly { readonly error: string }[]
}

describe('the calls of the integration tests', () => {
  let node: ServedBitcoin
  beforeEach(async () => {
    node = await ServedBitcoin.start()
  })
  afterEach(() => node.server.close())

  /** A wallet with coins, and an address of it. */
  async function funded(blocks = 110): Promise<string> {
    await node.call('createwallet', ['main'])
    const address = await node.call<string>('getnewaddress')
    await node.call('generatetoaddress', [blocks, address])
    return address
  }

  it('mines, pays, and finds what was paid', async () => {
    const address = await funded()
    expect(await node.call('getblockcount')).toBe(110)
    const [hash] = await node.call<string[]>('generatetoaddress', [1, address])
    expect(hash).toMatch(/^0*[0-9a-f]+$/)
    const payee = await node.call<string>('getnewaddress', ['', 'legacy'])
    expect(payee).toMatch(/^[mn]/)
    const id = await node.call<string>('sendtoaddress', [payee, '1.50000000'])
    expect(await node.call('getrawmempool')).toEqual([id])
    await node.call('generatetoaddress', [1, address])
    const { unspents, total_amount: total } = await node.call<{ unspents: Unspent[]; total_amount: number }>(
      'scantxoutset',
      ['start', [`addr(${payee})`]],
    )
    expect(total).toBe(1.5)
    expect(unspents).toHaveLength(1)
    expect(unspents[0]).toMatchObject({ txid: id, amount: 1.5, height: 112 })
    const raw = await node.call<string>('getrawtransaction', [id, false])
    expect(await node.call('decoderawtransaction', [raw])).toMatchObject({ txid: id })
    expect((await node.reply('getrawtransaction', ['ab'.repeat(32)])).error).toEqual({
      code: -5,
      message: 'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
    })
  })

  it.each(['legacy', 'p2sh-segwit', 'bech32'])(
    'spends a %s multisig with keys that sign one after the other',
    async (type) => {
      const miner = await funded()
      const addresses = await Promise.all([0, 1, 2].map(() => node.call<string>('getnewaddress')))
      const infos = await Promise.all(
        addresses.map((one) => node.call<{ pubkey: string }>('getaddressinfo', [one])),
      )
      const keys = await Promise.all(addresses.map((one) => node.call<string>('dumpprivkey', [one])))
      const made = await node.call<{ address: string; redeemScript: string }>('createmultisig', [
        2,
        infos.map(({ pubkey }) => pubkey),
        type,
      ])
      await node.call('sendtoaddress', [made.address, 2])
      await node.call('generatetoaddress', [1, miner])
      const { unspents } = await node.call<{ unspents: Unspent[] }>('scantxoutset', [
        'start',
        [`addr(${made.address})`],
      ])
      const [unspent] = unspents
      if (unspent === undefined) throw new Error('nothing was paid')
      const payee = await node.call<string>('getnewaddress')
      const plain = await node.call<string>('createrawtransaction', [
        [{ txid: unspent.txid, vout: unspent.vout }],
        { [payee]: '1.999' },
      ])
      const script =
        type === 'legacy' ? { redeemScript: made.redeemScript } : { witnessScript: made.redeemScript }
      const previous = [{ ...unspent, ...script }]
      const first = await node.call<Signed>('signrawtransactionwithkey', [plain, [keys[0]], previous])
      expect(first.complete).toBe(false)
      expect(first.errors).toHaveLength(1)
      const both = await node.call<Signed>('signrawtransactionwithkey', [first.hex, [keys[2]], previous])
      expect(both).toMatchObject({ complete: true })
      const id = await node.call<string>('sendrawtransaction', [both.hex])
      await node.call('generatetoaddress', [1, miner])
      expect(await node.call('gettxout', [id, 0])).toMatchObject({ value: 1.999, confirmations: 1 })
    },
  )

  it('serves the local environment script of the liquidity provider', async () => {
    expect((await node.reply('getwalletinfo')).error?.code).toBe(-18)
    await node.call('createwallet', ['main', false, false, 'test-password', true, false, true])
    await node.call('createwallet', ['rsk-wallet', true, true, '', false, false, true])
    const main = '/wallet/main'
    const watching = '/wallet/rsk-wallet'
    expect((await node.reply('getwalletinfo')).error?.code).toBe(-19)
    const address = await node.call<string>('getnewaddress', ['main'], main)
    await node.call('generatetoaddress', [120, address], main)
    const { pubkey } = await node.call<{ pubkey: string }>('getaddressinfo', [address], main)
    await node.call('importpubkey', [pubkey], watching)
    const payee = 'mn3vEbWWc43KV2ZojLfL7fY8UZ7xJcN4dt'
    expect((await node.reply('importaddress', [payee, 'rsk-wallet'], watching)).error?.code).toBe(-5)
    const valid = await node.call<string>('getnewaddress', ['', 'legacy'], main)
    await node.call('importaddress', [valid, 'rsk-wallet', false], watching)
    const payment = { amount: 0.5, fee_rate: 25, address: valid }
    expect((await node.reply('sendtoaddress', payment, main)).error?.code).toBe(-13)
    expect((await node.reply('walletpassphrase', ['wrong', 60], main)).error?.code).toBe(-14)
    await node.call('walletpassphrase', ['test-password', 3600], main)
    const id = await node.call<string>('sendtoaddress', payment, main)
    const { fees, vsize } = await node.call<{ fees: { base: number }; vsize: number }>('getmempoolentry', [
      id,
    ])
    expect(Math.round(fees.base * 1e8)).toBe(vsize * 25)
    await node.call('generatetoaddress', [1, address], main)
    const unspent = await node.call<Unspent[]>('listunspent', [1, 9999999, [valid]], watching)
    expect(unspent).toHaveLength(1)
    expect(unspent[0]).toMatchObject({ txid: id, amount: 0.5, spendable: false, solvable: false })
    expect(await node.call('getwalletinfo', [], watching)).toMatchObject({
      walletname: 'rsk-wallet',
      private_keys_enabled: false,
    })
    // The provider pays out: a watching wallet funds, keys sign.
    const plain = await node.call<string>(
      'createrawtransaction',
      [[], { [valid]: 0.1, data: 'c0ffee' }],
      watching,
    )
    const { hex, fee } = await node.call<{ hex: string; fee: number }>(
      'fundrawtransaction',
      [plain, { changeAddress: address, includeWatching: true, fee_rate: 20 }],
      watching,
    )
    expect(fee).toBeGreaterThan(0)
    const key = await node.call<string>('dumpprivkey', [address], main)
    const other = await node.call<string>('dumpprivkey', [valid], main)
    const signed = await node.call<Signed>('signrawtransactionwithkey', [hex, [key, other]])
    expect(signed.complete).toBe(true)
    await node.call('sendrawtransaction', [signed.hex])
  })

  it('answers what a version probe and fee estimates ask', async () => {
    expect(await node.call('getblockchaininfo')).toMatchObject({ chain: 'regtest', blocks: 0 })
    expect(await node.call('getnetworkinfo')).toMatchObject({ version: 270200 })
    expect(await node.call('estimatesmartfee', [6, 'CONSERVATIVE'])).toEqual({ feerate: 0.0002, blocks: 6 })
    expect(await node.call('ping')).toBe(null)
  })
})
