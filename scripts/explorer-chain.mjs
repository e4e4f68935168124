/**
 * The chain of the explorer's pictures: a token and a shop with known ABIs, sales that succeed and fail, a failure two
 * calls deep, uncles, a reorganisation, snapshots. Its clock is the caller's, so that each run makes the same blocks.
 */
import { readFileSync } from 'node:fs'
import { Interface } from 'ethers'

const ROOT = new URL('../', import.meta.url)
const COIN = 10n ** 18n
const contract = (name) => JSON.parse(readFileSync(new URL(`fixtures/contracts/${name}.json`, ROOT), 'utf8'))
const hex = (value) => `0x${value.toString(16)}`

/** A client of the node at `url` by POST. Throws errors of the reply. */
export function clientOf(url) {
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = await response.json()
    if (error !== undefined) throw Object.assign(new Error(error.message), { data: error.data })
    return result
  }
}

/** Sends transactions of the example contracts; `pass` moves the clock on by seconds. */
export async function populate(request, pass) {
  const [alice, bob, ...others] = await request('eth_accounts')
  const [shopArtifact, stockArtifact, tokenArtifact] = ['Shop', 'Stock', 'Token'].map(contract)
  const shopAbi = new Interface(shopArtifact.abi)
  const tokenAbi = new Interface(tokenArtifact.abi)
  async function send(to, data, more = {}) {
    pass(17)
    const fields = { from: alice, to, data, gas: '0x1e8480', gasPrice: '0x3938700', ...more }
    return request('eth_sendTransaction', fields)
  }
  /** Sends a failing transaction, and returns its hash. */
  async function fail(...message) {
    await send(...message).catch(() => {})
    return (await request('eth_getBlockByNumber', 'latest', false)).transactions[0]
  }
  const deployed = async (hash) => (await request('eth_getTransactionReceipt', hash)).contractAddress

  const shop = await deployed(await send(undefined, shopArtifact.bytecode))
  const supply = tokenAbi.encodeDeploy([COIN * 1_000_000n]).slice(2)
  const creation = await send(undefined, tokenArtifact.bytecode + supply)
  const token = await deployed(creation)
  await request('evm_setAbi', shop, shopArtifact)
  await request('evm_setAbi', token, tokenArtifact)
  await request('evm_setAbi', 'Stock', stockArtifact)
  const transfer = (to, amount) => tokenAbi.encodeFunctionData('transfer', [to, amount * COIN])
  const buy = (id, count) => shopAbi.encodeFunctionData('buy', [id, count])

  await send(token, transfer(bob, 250n))
  const sale = await send(shop, buy(7, 1), { value: hex(COIN) })
  await request('evm_setAutomine', false)
  for (let i = 0; i < 24; i++) {
    const value = hex((COIN / 10n) * BigInt(i + 1))
    await send(bob, '0x', { value, from: others[i % 4] })
  }
  await request('evm_mine')
  await request('evm_setAutomine', true)
  const parent = (await request('eth_getBlockByNumber', 'latest', false)).parentHash
  await request('evm_mine', { parent })
  for (let i = 0; i < 6; i++) {
    pass(23)
    await request('evm_mine')
  }
  await request('evm_snapshot', 'before the sale')
  await send(token, transfer(others[2], 1200n))
  await send(token, tokenAbi.encodeFunctionData('approve', [shop, 500n * COIN]))
  await send(token, transfer(others[3], 75n), { from: bob })
  const tooMuch = await fail(token, transfer(bob, 5n), { from: others[5] })
  await send(shop, buy(7, 1), { value: hex(COIN / 2n), from: bob })
  const failed = await fail(shop, buy(7, 9), { value: hex(2n * COIN) })
  await request('evm_snapshot', 'after the sale')
  await send(bob, '0x', { value: hex(2n * COIN) })
  await send(token, transfer(others[1], 42n))
  const block = Number(await request('eth_blockNumber'))

  /** Calls the shop as a script does: a line of console.log, and a failure. */
  async function trade() {
    await send(shop, buy(7, 0), { value: hex(COIN) })
    await fail(shop, buy(7, 4), { from: others[0] })
    await request('eth_call', { from: bob, to: shop, data: buy(7, 2) }, 'latest').catch(() => {})
  }
  /** Fills the pool: transactions that can be mined, and others that wait for an earlier nonce. */
  async function fill() {
    await request('evm_setAutomine', false)
    for (const [i, from] of others.slice(0, 4).entries()) {
      await send(i === 0 ? shop : token, i === 0 ? buy(7, 1) : transfer(bob, BigInt(10 * i)), { from })
      await send(bob, '0x', { from, value: hex(COIN / 4n) })
    }
    for (const [i, from] of others.slice(4, 6).entries()) {
      const nonce = Number(await request('eth_getTransactionCount', from, 'pending')) + 2 + i
      await send(alice, '0x', { from, value: hex(COIN), nonce: hex(nonce) })
    }
  }
  return { alice, bob, shop, token, creation, sale, tooMuch, failed, block, trade, fill }
}
