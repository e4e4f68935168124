/** What a Bitcoin transaction is to the peg, and what became of the last ones, in words. */
import { afterEach, describe, expect, it } from 'vitest'
import { idOf } from '../../src/bitcoin/chain/block.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'
const BELOW = 'an amount is below the minimum; not refunded'

let node: Node | undefined
afterEach(async () => {
  await node?.close()
  node = undefined
})

async function started(options: NodeOptions = {}) {
  const opened = await createNode({ bitcoin: true, frozenClock: true, ...options })
  node = opened
  const { bitcoin: peg } = opened
  if (peg === undefined) throw new Error('the node has no Bitcoin chain')
  const call = (method: string, ...params: unknown[]) => opened.request({ method, params })
  const bitcoin = async (method: string, ...params: unknown[]) => {
    const reply = await peg.answer(
      { verb: 'POST', path: '/', body: JSON.stringify({ method, params }) },
      () => false,
    )
    const { result, error } = JSON.parse(reply?.body ?? '{}')
    if (error !== null) throw new Error(error.message)
    return result
  }
  return { peg, call, bitcoin }
}

type Started = Awaited<ReturnType<typeof started>>

/** Pays 0.1 BTC to the federation from an address of a wallet, with data in an output. */
async function payWith({ peg, bitcoin }: Started, data: string): Promise<string> {
  await bitcoin('createwallet', 'w')
  const address = await bitcoin('getnewaddress', '', 'legacy')
  await peg.faucet(address, 20_000_000n)
  const [{ txid, vout }] = await bitcoin('listunspent')
  const { active } = await peg.status()
  const outputs = [{ [active.address]: 0.1 }, { data }, { [address]: 0.0999 }]
  const { hex } = await bitcoin(
    'signrawtransactionwithwallet',
    await bitcoin('createrawtransaction', [{ txid, vout }], outputs),
  )
  return bitcoin('sendrawtransaction', hex)
}

/** The hash of the first transaction that the Bridge has made and not let go. */
async function waitingOf(peg: Started['peg']): Promise<string> {
  const [first] = (await peg.status()).pegOuts
  if (first === undefined || first.stage === 'requested') throw new Error('no transaction waits')
  return first.bitcoinTransaction
}

describe('a Bitcoin transaction', () => {
  it('is a peg-in: waiting, registered, or ignored with the reason', async () => {
    const { peg, call } = await started()
    const { bitcoinTransaction: id } = await peg.pegIn(RECEIVER, 1_000_000n, 1)
    expect(await peg.transaction(id)).toMatchObject({
      confirmations: 1,
      outputs: [{ federation: 'active', satoshi: 1_000_000n }, { kind: 'nulldata', receiver: RECEIVER }, {}],
      peg: { kind: 'pegIn', status: 'waiting', satoshi: 1_000_000n, needed: 3 },
    })
    const small = await peg.faucet((await peg.status()).active.address, 499_999n, 3)
    await call('evm_mine')
    expect((await peg.transaction(id))?.peg).toMatchObject({
      status: 'registered',
      transaction: expect.any(String),
    })
    expect((await peg.transaction(small))?.peg).toMatchObject({ status: 'ignored', reason: BELOW })
    const { pegIns, history } = await peg.status()
    expect(pegIns).toEqual([
      { bitcoinTransaction: small, satoshi: 499_999n, confirmations: 3, ignored: BELOW },
    ])
    expect(history).toMatchObject([{ kind: 'pegIn', status: 'registered', bitcoinTransaction: id }])
  })

  it('is a peg-in that is rejected, and the refund of it', async () => {
    const all = await started()
    const { peg, call } = all
    const id = await payWith(all, '52534b5402')
    await peg.mine(3)
    await call('evm_mine')
    const reason = 'the instructions in it are malformed'
    expect((await peg.transaction(id))?.peg).toMatchObject({ kind: 'pegIn', status: 'refunded', reason })
    const refund = await waitingOf(peg)
    expect(await peg.transaction(refund)).toMatchObject({
      confirmations: undefined,
      inputs: [{ bitcoinTransaction: id, coin: { federation: 'active' }, reveals: { required: 2, keys: 3 } }],
      peg: { kind: 'refund', status: 'confirming', confirmations: 1, needed: 3 },
    })
    await call('hardhat_mine', '0x5')
    expect((await peg.transaction(refund))?.peg).toMatchObject({ kind: 'refund', status: 'released' })
    expect((await peg.status()).history).toMatchObject([
      { kind: 'refund', status: 'released', bitcoinTransaction: refund },
      { kind: 'pegIn', status: 'refunded', bitcoinTransaction: id, satoshi: 10_000_000n, reason },
    ])
  })

  it('pays peg-outs, and is known by the hash that it had before it was signed', async () => {
    const { peg, call } = await started({ bridgeRelease: '9.0' })
    await peg.pegIn(RECEIVER, 5_000_000n)
    const { transaction } = await peg.pegOut(COW, 1_000_000n, false)
    await call('evm_mine')
    const unsigned = await waitingOf(peg)
    expect((await peg.transaction(unsigned))?.peg).toMatchObject({ kind: 'pegOut', requests: [transaction] })
    await call('hardhat_mine', '0x6')
    await peg.mine(1)
    const found = await peg.transaction(unsigned)
    expect(found?.bitcoinTransaction).not.toBe(unsigned)
    expect(found).toMatchObject({
      confirmations: 1,
      fee: expect.any(BigInt),
      peg: { kind: 'pegOut', status: 'released', satoshi: 1_000_000n, requests: [transaction] },
    })
  })

  it('is nothing to the peg, or unknown', async () => {
    const { peg, call } = await started()
    const [hash = ''] = await peg.mine(1)
    const [coinbase] = peg.bitcoin.chain.state.blocks.get(hash)?.block.transactions ?? []
    if (coinbase === undefined) throw new Error('the block has no coinbase')
    expect(await peg.transaction(idOf(coinbase))).toMatchObject({ isCoinbase: true, peg: undefined })
    expect(await call('btc_transaction', 'ab'.repeat(32))).toBeNull()
    await expect(call('btc_transaction', 'ab')).rejects.toThrow(/hash of 64 hex digits/)
    await expect(peg.transaction('AB')).rejects.toThrow(/64 hex digits in lower case/)
  })
})
