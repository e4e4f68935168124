/** Methods of Bitcoin Core's JSON-RPC over a socket: forms of results, errors with their codes, blocks and reorganisations. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { networks, Psbt, payments } from 'bitcoinjs-lib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { METHODS } from '../../src/bitcoin-rpc/dispatcher.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex } from '../../src/encoding/hex.ts'
import { type Reply, ServedBitcoin } from './bitcoin-server.ts'
import { blockOfTemplate, type Template } from './template-block.ts'

const UNKNOWN = 'ab'.repeat(32)
const MINER = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'

/** A private key as wallets import it, for a compressed public key of regtest. */
const wifOf = (key: Uint8Array) =>
  createBase58check(sha256).encode(concat(Uint8Array.of(0xef), key, Uint8Array.of(1)))

describe('methods', () => {
  let node: ServedBitcoin
  let address: string
  beforeEach(async () => {
    node = await ServedBitcoin.start()
    await node.call('createwallet', ['w'])
    address = await node.call('getnewaddress')
    await node.call('generatetoaddress', [105, address])
  })
  afterEach(() => node.server.close())

  it('take parameters by place, by name and both', async () => {
    const hash = await node.call<string>('getblockhash', { height: 1 })
    expect(await node.call('getblockhash', [1])).toBe(hash)
    expect(await node.call('getblock', { args: [hash], verbosity: 0 })).toMatch(/^[0-9a-f]+$/)
    expect((await node.reply('getblockhash', { hight: 1 })).error).toEqual({
      code: -8,
      message: 'Unknown named parameter hight',
    })
    expect((await node.reply('getblockhash', [1, 2])).error?.code).toBe(-1)
    expect((await node.reply('getblockhash')).error?.code).toBe(-1)
    expect((await node.reply('getblockhash', ['1'])).error?.code).toBe(-3)
  })

  it('give miners a template, from which they build a block that is taken', async () => {
    const payment = await node.call<string>('sendtoaddress', [address, 1])
    const template = await node.call<Template>('getblocktemplate', [{ rules: ['segwit'] }])
    expect(template).toMatchObject({
      height: 106,
      bits: '207fffff',
      previousblockhash: await node.call('getbestblockhash'),
      transactions: [{ txid: payment, depends: [] }],
    })
    const { fee } = await node.call<{ fee: number }>('gettransaction', [payment])
    expect(template).toHaveProperty('coinbasevalue', 50e8 - Math.round(fee * 1e8))
    const block = blockOfTemplate(template)
    expect(await node.call('submitblock', [block.hex])).toBeNull()
    expect(await node.call('getbestblockhash')).toBe(block.hash)
    expect((await node.reply('getblocktemplate')).error).toMatchObject({ code: -8 })
  })

  it('show blocks in all forms', async () => {
    const hash = await node.call<string>('getbestblockhash')
    const header = await node.call<object>('getblockheader', [hash])
    expect(header).toMatchObject({
      hash,
      height: 105,
      confirmations: 1,
      bits: '207fffff',
      nTx: 1,
      versionHex: '20000000',
    })
    expect(header).toHaveProperty('difficulty', 4.656542373906925e-10)
    expect(await node.call('getblock', [hash, false])).toMatch(
      new RegExp(`^${await node.call('getblockheader', [hash, false])}`),
    )
    expect(await node.call('getblock', [hash, true])).toMatchObject({ ...header, tx: [expect.any(String)] })
    const { tx } = await node.call<{ tx: object[] }>('getblock', [hash, 2])
    expect(tx[0]).toMatchObject({
      vin: [{ coinbase: expect.any(String) }],
      vout: [{ value: 50, n: 0 }, { value: 0 }],
    })
  })

  it.each<[string, unknown[], number, RegExp]>([
    ['getblockhash', [106], -8, /^Block height out of range$/],
    ['getblockhash', [-1], -8, /^Block height out of range$/],
    ['getblock', [UNKNOWN], -5, /^Block not found$/],
    ['getblock', ['ab'], -8, /^blockhash must be of length 64 \(not 2, for 'ab'\)$/],
    ['getblock', ['zz'.repeat(32)], -8, /^blockhash must be hexadecimal string/],
    ['getrawtransaction', [UNKNOWN], -5, /^No such mempool or blockchain transaction/],
    ['decoderawtransaction', ['00'], -22, /^TX decode failed/],
    ['sendrawtransaction', ['0200'], -22, /^TX decode failed/],
    ['submitblock', ['00'], -22, /^Block decode failed$/],
    ['generatetoaddress', [1, 'nowhere'], -5, /^Error: Invalid address$/],
    ['sendtoaddress', ['nowhere', 1], -5, /^Invalid Bitcoin address/],
    ['sendtoaddress', ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', -1], -3, /^Amount out of range$/],
    ['sendtoaddress', ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 0.000000001], -3, /^Invalid amount$/],
    ['sendtoaddress', ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 1_000_000], -6, /^Insufficient funds$/],
    ['getmempoolentry', [UNKNOWN], -5, /^Transaction not in mempool$/],
    ['gettransaction', [UNKNOWN], -5, /^Invalid or non-wallet transaction id$/],
    ['createwallet', ['w'], -4, /already exists/],
    ['loadwallet', ['none'], -18, /Path does not exist/],
    ['getnewaddress', ['', 'p2x'], -5, /^Unknown address type 'p2x'$/],
    ['gettxoutproof', [[UNKNOWN]], -5, /^Transaction not yet in block$/],
    ['dumpprivkey', ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'], -4, /is not known$/],
    ['walletpassphrase', ['x', 1], -15, /unencrypted wallet/],
    ['stop', [], -32601, /^Method not found$/],
    ['walletcreatefundedpsbt', [[], []], -8, /at least one output/],
    ['walletprocesspsbt', [''], -32601, /^Method not found$/],
  ])('refuse %s %j', async (method, params, code, message) => {
    const { error, result } = await node.reply(method, params)
    expect(result).toBe(null)
    expect(error?.code).toBe(code)
    expect(error?.message).toMatch(message)
  })

  it('write amounts with eight decimals', async () => {
    const body = JSON.stringify({ id: 1, method: 'getbalance', params: [] })
    expect(await (await node.post(body)).text()).toContain('"result":250.00000000')
    const id = await node.call<string>('sendtoaddress', [address, '0.00000546'])
    const raw = await (
      await node.post(JSON.stringify({ id: 1, method: 'getrawtransaction', params: [id, 1] }))
    ).text()
    expect(raw).toContain('"value":0.00000546')
  })

  // Bitcoin Core's wallets count a reward with 101 confirmations, one more than the mempool asks for.
  it('count a reward as mature with 101 confirmations', async () => {
    const own = await ServedBitcoin.start()
    try {
      await own.call('createwallet', ['w'])
      const to = await own.call('getnewaddress')
      await own.call('generatetoaddress', [100, to])
      expect(await own.call('getbalances')).toMatchObject({ mine: { trusted: 0, immature: 5000 } })
      expect(await own.call('listunspent')).toEqual([])
      await own.call('generatetoaddress', [1, to])
      expect(await own.call('getbalances')).toMatchObject({ mine: { trusted: 50, immature: 5000 } })
    } finally {
      await own.server.close()
    }
  })

  it('take the largest amounts without loss', async () => {
    for (const text of ['20999999.97690000', '20999999.97689999', '0.00000001', '12345678.90123457']) {
      const raw = await node.call<string>('createrawtransaction', [
        [{ txid: UNKNOWN, vout: 0 }],
        { [address]: Number(text) },
      ])
      const body = JSON.stringify({ id: 1, method: 'decoderawtransaction', params: [raw] })
      expect(await (await node.post(body)).text()).toContain(`"value":${text}`)
    }
    const outputs = { [address]: '21000000.00000001' }
    expect((await node.reply('createrawtransaction', [[], outputs])).error?.message).toBe(
      'Amount out of range',
    )
  })

  it('prove that transactions are in blocks', async () => {
    const ids = [
      await node.call<string>('sendtoaddress', [address, 1]),
      await node.call<string>('sendtoaddress', [address, 2]),
    ]
    await node.call('generatetoaddress', [1, address])
    const proof = await node.call<string>('gettxoutproof', [ids])
    expect((await node.call<string[]>('verifytxoutproof', [proof])).sort()).toEqual(ids.toSorted())
    expect((await node.reply('verifytxoutproof', [proof.slice(0, -2)])).error?.code).toBe(-22)
  })

  it('go back and forth between branches', async () => {
    const before = await node.call<string>('getbestblockhash')
    const id = await node.call<string>('sendtoaddress', [address, 1])
    const [mined] = await node.call<string[]>('generatetoaddress', [1, address])
    await node.call('invalidateblock', [mined])
    expect(await node.call('getbestblockhash')).toBe(before)
    expect(await node.call('getrawmempool')).toEqual([id])
    const raw = await node.call<string>('getblock', [mined, 0])
    expect(await node.call('submitblock', [raw])).toBe('duplicate-invalid')
    const { hash } = await node.call<{ hash: string }>('generateblock', [address, []])
    expect(await node.call('getbestblockhash')).toBe(hash)
    const [second] = await node.call<string[]>('generatetoaddress', [1, address])
    await node.call('reconsiderblock', [mined])
    expect(await node.call('getbestblockhash')).toBe(second)
    expect(await node.call('getblock', [mined])).toMatchObject({ confirmations: -1 })
    expect(await node.call('getchaintips')).toHaveLength(2)
    expect(await node.call('gettransaction', [id])).toMatchObject({ confirmations: 1 })
  })

  it('keep the account of a wallet', async () => {
    const payee = await node.call<string>('getnewaddress', ['bills', 'p2sh-segwit'])
    const id = await node.call<string>('sendtoaddress', [payee, 3])
    const { fee, details } = await node.call<{ fee: number; details: object[] }>('gettransaction', [id])
    expect(details).toMatchObject([
      { category: 'send', amount: -3, fee },
      { category: 'receive', amount: 3, label: 'bills' },
    ])
    await node.call('generatetoaddress', [1, address])
    const listed = await node.call<object[]>('listtransactions', ['bills'])
    expect(listed).toMatchObject([
      { category: 'send', txid: id, confirmations: 1 },
      { category: 'receive', txid: id, confirmations: 1 },
    ])
    expect(await node.call('getreceivedbyaddress', [payee])).toBe(3)
    const key = await node.call<string>('dumpprivkey', [payee])
    await node.call('createwallet', ['other', false, true])
    await node.call('importprivkey', [key], '/wallet/other')
    expect(await node.call('getbalance', [], '/wallet/other')).toBe(3)
    expect(await node.call('validateaddress', [payee])).toMatchObject({
      isvalid: true,
      isscript: true,
      iswitness: false,
    })
    expect(await node.call('listwallets')).toEqual(['other', 'w'])
    await node.call('unloadwallet', ['other'])
    expect((await node.reply('getbalance', [], '/wallet/other')).error?.code).toBe(-18)
    await node.call('loadwallet', ['other'])
    expect(await node.call('getbalance', [], '/wallet/other')).toBe(3)
  })

  it('subtract the fee where asked, and pay several', async () => {
    const other = await node.call<string>('getnewaddress')
    const id = await node.call<string>('sendtoaddress', {
      address: other,
      amount: 2,
      subtractfeefromamount: true,
    })
    const { fee } = await node.call<{ fee: number }>('gettransaction', [id])
    const { vout } = await node.call<{ vout: { value: number }[] }>('getrawtransaction', [id, true])
    expect(vout.map(({ value }) => value)).toContain(Number((2 + fee).toFixed(8)))
    const many = await node.call<string>('sendmany', ['', { [address]: 0.1, [other]: '0.2' }])
    expect(
      await node.call('testmempoolaccept', [[await node.call('getrawtransaction', [many])]]),
    ).toMatchObject([{ txid: many, allowed: false, 'reject-reason': 'txn-already-in-mempool' }])
  })

  it('make partially signed transactions that an independent library reads, signs and completes', async () => {
    const key = fromHex(`0x${'42'.repeat(32)}`)
    const signer = {
      publicKey: secp256k1.getPublicKey(key, true),
      sign: (hash: Uint8Array) => secp256k1.sign(hash, key, { prehash: false, lowS: true }),
    }
    const network = networks.regtest
    const { publicKey: pubkey } = signer
    const own = [
      payments.p2pkh({ pubkey, network }),
      payments.p2wpkh({ pubkey, network }),
      payments.p2sh({ redeem: payments.p2wpkh({ pubkey, network }), network }),
    ].map(({ address = '' }) => address)
    await node.call('createwallet', ['signing'])
    await node.call('importprivkey', [wifOf(key)], '/wallet/signing')
    for (const address of own) await node.call('generatetoaddress', [1, address])
    await node.call('generatetoaddress', [101, MINER])
    const unspent = await node.call<{ txid: string; vout: number }[]>('listunspent', [], '/wallet/signing')
    expect(unspent).toHaveLength(3)
    const outputs = [{ [MINER]: 149 }]
    const made = await node.call<{ psbt: string; fee: number; changepos: number }>(
      'walletcreatefundedpsbt',
      [[], outputs, 0, { fee_rate: 10 }],
      '/wallet/signing',
    )
    const psbt = Psbt.fromBase64(made.psbt, { network })
    expect(psbt.inputCount).toBe(3)
    psbt.signAllInputs(signer).finalizeAllInputs()
    expect(Number(psbt.getFee()) / 1e8).toBe(made.fee)
    const raw = psbt.extractTransaction().toHex()
    expect(await node.call('sendrawtransaction', [raw])).toMatch(/^[0-9a-f]{64}$/)
  })

  it('answer help for each of them', async () => {
    const all = await node.call<string>('help')
    for (const name of METHODS.keys()) {
      expect(all).toContain(name)
      expect(await node.call('help', [name])).toContain(name)
    }
  })

  it('answer batches, each call for itself', async () => {
    const calls = [
      { id: 1, method: 'getblockcount' },
      { id: 'two', method: 'none' },
      3,
      { id: 4, method: 'getblockhash', params: [0] },
    ]
    const replies = (await (await node.post(JSON.stringify(calls))).json()) as Reply[]
    expect(replies.map(({ id, error }) => [id, error?.code ?? 0])).toEqual([
      [1, 0],
      ['two', -32601],
      [null, -32600],
      [4, 0],
    ])
  })
})
