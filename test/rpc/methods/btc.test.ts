import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type Node, serve } from '../../../src/index.ts'
import { METHODS } from '../../../src/rpc/methods/index.ts'
import { openSession } from '../../../src/rpc/session.ts'
import { COW } from '../../support/noting-chain.ts'

/** A Bitcoin address of regtest. */
const MINER = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'
const RECEIVER = '0x00000000000000000000000000000000000b0b01'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

/** Calls a served node over its socket; each answer is of the method's schema. */
async function served(options = {}) {
  const node: Node = await createNode({ bitcoin: true, frozenClock: true, ...options })
  open.push(node)
  const server = await serve(node, { port: 0 })
  open.push(server)
  return async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const reply = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (reply.error !== undefined) throw new Error(reply.error.message)
    const schema = METHODS.find(({ name }) => name === method)?.result()
    expect(schema?.safeParse(reply.result).error).toBeUndefined()
    return reply.result
  }
}

describe('the methods of the peg', () => {
  it('bring coins in and out, and show where they are', async () => {
    const call = await served()
    const incoming = await call('btc_pegIn', RECEIVER, 2_000_000)
    expect(incoming).toMatchObject({ status: 'registered', satoshi: 2_000_000, reason: null })
    const { transaction } = incoming as { transaction: string }
    expect(await call('eth_getTransactionReceipt', transaction)).toMatchObject({ status: '0x1' })
    expect(await call('btc_status')).toMatchObject({
      bitcoin: { height: 453 },
      bridge: { height: 453 },
      locked: 2_000_000,
      pegIns: [],
      pegOuts: [],
    })
    const outgoing = await call('btc_pegOut', COW, 500_000, false)
    expect(outgoing).toMatchObject({ status: 'waiting', bitcoinTransaction: null })
    expect(await call('btc_status')).toMatchObject({
      pegOuts: [{ stage: 'requested', satoshi: 500_000 }],
    })
    for (let i = 0; i < 6; i++) await call('evm_mine')
    expect(await call('btc_status')).toMatchObject({ bitcoin: { mempool: 1 }, pegOuts: [] })
    expect(await call('btc_mine')).toHaveLength(1)
    expect(await call('btc_status')).toMatchObject({ bitcoin: { height: 454, mempool: 0 } })
  })

  it('end the mining of a request whose caller has gone', async () => {
    const node = await createNode({ bitcoin: true, frozenClock: true })
    open.push(node)
    let asked = 0
    const session = { ...openSession('http'), isGone: () => ++asked > 20 }
    const body = JSON.stringify({ id: 1, method: 'generatetoaddress', params: [1e9, MINER] })
    const message = { jsonrpc: '2.0', id: 1, method: 'btc_request', params: ['POST', '/', body] }
    await node.dispatcher.dispatchText(JSON.stringify(message), session)
    expect(asked).toBeGreaterThan(20)
  })

  it('have the address and the proof of a flyover peg-in', async () => {
    const call = await served()
    const agreement = `0x${'11'.repeat(32)}`
    const params = [agreement, MINER, RECEIVER, MINER]
    const { address, user } = (await call('btc_flyoverAddress', ...params)) as {
      address: string
      user: string
    }
    expect(user).toMatch(/^0x6f[0-9a-f]{40}$/)
    const id = await call('btc_faucet', address, 1_000_000, 0)
    expect(await call('btc_proof', id)).toBeNull()
    await call('btc_mine')
    expect(await call('btc_proof', id)).toMatchObject({ height: 451 })
    expect(await call('btc_transaction', id)).toMatchObject({ outputs: [{ address }, {}], peg: null })
    await expect(call('btc_flyoverAddress', agreement, 'bcrt1q', RECEIVER, MINER)).rejects.toThrow(
      /user: expected a Bitcoin address of a key's or script's hash/,
    )
  })

  it('say in words why coins do not move', async () => {
    const call = await served()
    await expect(call('btc_pegIn', RECEIVER, 499_999)).rejects.toThrow(/below the minimum of 500000/)
    await expect(call('btc_pegIn', RECEIVER, 2_100_000_000_000_000)).rejects.toThrow(/faucet does not have/)
    expect(await call('btc_pegOut', COW, 1_000)).toMatchObject({
      status: 'rejected',
      reason: 'the amount is below the minimum',
    })
    const address = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'
    await expect(call('btc_faucet', address, 1)).rejects.toThrow(/dust/)
    await expect(call('btc_faucet', 'nonsense', 1_000)).rejects.toThrow(/address: expected a Bitcoin address/)
    await expect(call('btc_reorg', 1_000)).rejects.toThrow(/does not have 1000 blocks to replace/)
  })

  it('wait for the federation to be asked, or for ever', async () => {
    const call = await served({ federation: 'manual' })
    expect(await call('btc_pegIn', RECEIVER, 1_000_000, 0)).toMatchObject({ status: 'waiting' })
    await call('btc_mine', 3)
    await call('evm_mine')
    expect(await call('btc_status')).toMatchObject({ bridge: { height: 0 } })
    // Five calls with headers, the peg-in, and an update.
    expect(await call('fed_updateBridge')).toBe(7)
    expect(await call('btc_status')).toMatchObject({ bridge: { height: 453 }, locked: 1_000_000 })
    const always = await served()
    expect(await always('fed_updateBridge')).toBe(5)
    expect(await always('btc_status')).toMatchObject({ bridge: { height: 450 } })
    expect(await always('btc_flush')).toBe(0)
    const never = await served({ federation: 'off' })
    expect(await never('btc_pegIn', RECEIVER, 1_000_000)).toMatchObject({ status: 'waiting' })
    expect(await never('btc_flush')).toBe(0)
    expect(await never('btc_status')).toMatchObject({ bridge: { height: 0 }, pegIns: [{ confirmations: 3 }] })
  })

  it('reorganise the Bitcoin chain, which the Bridge then sees', async () => {
    const call = await served()
    await call('btc_pegIn', RECEIVER, 1_000_000)
    const hashes = (await call('btc_reorg', 2)) as string[]
    expect(hashes).toHaveLength(3)
    await call('evm_mine')
    expect(await call('btc_status')).toMatchObject({ bridge: { height: 454, hash: hashes.at(-1) } })
  })

  it('have the heights of both chains on the readiness page', async () => {
    const node = await createNode({ bitcoin: true, frozenClock: true })
    open.push(node)
    const server = await serve(node, { port: 0 })
    open.push(server)
    await node.bitcoin?.mine(5)
    const page = await (await fetch(`${server.url}/readyz`)).json()
    expect(page).toEqual({ status: 'ok', head: 0, bitcoin: { height: 455, bridge: 0 } })
  })

  it('are refused in a sentence by a node without a Bitcoin chain', async () => {
    const call = await served({ bitcoin: false })
    const message = 'the method btc_status does not exist/is not available: it is open with --bitcoin'
    await expect(call('btc_status')).rejects.toThrow(message)
  })
})
