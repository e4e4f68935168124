/**
 * Takes pictures of the explorer's pages, on a chain with trades, failures, an uncle and a reorganisation:
 *
 *     npm run build && node scripts/explorer-pictures.mjs [folder] [page …]
 *
 * Without a folder it writes the pictures of the documents to docs/images. With one it writes every page, in light and
 * dark and as wide as a phone.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Interface } from 'ethers'
import { chromium } from 'playwright-core'
import { createNode, serve } from '../dist/index.js'

const ROOT = new URL('../', import.meta.url)
const [folder, ...only] = process.argv.slice(2)
const contract = (name) => JSON.parse(readFileSync(new URL(`fixtures/contracts/${name}.json`, ROOT), 'utf8'))

/** 2026-01-01, so that pictures differ only where pages do. */
const START = 1_767_225_600

async function populate(request) {
  const [alice, bob, ...others] = await request('eth_accounts')
  const [shop, stock, token] = [contract('Shop'), contract('Stock'), contract('Token')]
  const send = (to, data, more = {}) =>
    request('eth_sendTransaction', { from: alice, to, data, gas: '0x1e8480', gasPrice: '0x3938700', ...more })
  const deployed = async (hash) => (await request('eth_getTransactionReceipt', hash)).contractAddress
  const at = await deployed(await send(undefined, shop.bytecode))
  const supply = new Interface(token.abi).encodeDeploy([10n ** 24n]).slice(2)
  const tokenAt = await deployed(await send(undefined, token.bytecode + supply))
  await request('evm_setAbi', at, shop)
  await request('evm_setAbi', tokenAt, token)
  await request('evm_setAbi', 'Stock', stock)
  const shopAbi = new Interface(shop.abi)
  const tokenAbi = new Interface(token.abi)
  await send(tokenAt, tokenAbi.encodeFunctionData('transfer', [bob, 250n * 10n ** 18n]))
  const sale = await send(at, shopAbi.encodeFunctionData('buy', [7, 1]), { value: '0xde0b6b3a7640000' })
  await request('evm_setAutomine', false)
  for (let i = 0; i < 24; i++) {
    const value = `0x${(10n ** 17n * BigInt(i + 1)).toString(16)}`
    await send(bob, '0x', { value, from: others[i % 4] })
  }
  await request('evm_mine')
  await request('evm_setAutomine', true)
  const parent = (await request('eth_getBlockByNumber', 'latest', false)).parentHash
  await request('evm_mine', { parent })
  await request('evm_mine', { blocks: 8 })
  await request('evm_reorg', { depth: 2, uncles: true })
  await send(at, shopAbi.encodeFunctionData('buy', [7, 9])).catch(() => {})
  const [failed] = (await request('eth_getBlockByNumber', 'latest', false)).transactions
  await send(bob, '0x', { value: '0x1bc16d674ec80000' })
  await request('evm_snapshot', 'before the sale')
  return { shop: at, token: tokenAt, sale, failed, alice, bob }
}

const node = await createNode({ genesisTime: START })
const server = await serve(node, { port: 0 })
const request = async (method, ...params) => {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw Object.assign(new Error(error.message), { data: error.data })
  return result
}
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
try {
  const chain = await populate(request)
  const latest = await request('eth_getBlockByNumber', 'latest', false)
  const withUncles = Number(latest.number) - 2
  const pages = {
    overview: '',
    blocks: '#/blocks',
    block: '#/block/6',
    'block-uncles': `#/block/${withUncles}`,
    transaction: `#/tx/${chain.sale}`,
    failure: `#/tx/${chain.failed}`,
    tree: '#/tree',
    search: '#/search/transfer',
    address: `#/address/${chain.shop}`,
    account: `#/address/${chain.alice}`,
    contracts: '#/contracts',
    pool: '#/pool',
    snapshots: '#/snapshots',
    console: '#/console',
    clock: '#/clock',
    accounts: '#/accounts',
  }
  /** The pictures of the documents. */
  const documented = { overview: 'light', failure: 'dark', tree: 'light' }
  const shoot = async (name, colorScheme, width, file) => {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme })
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(name, message.text())
    })
    await page.goto(`${server.url}/${pages[name]}`)
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: file, fullPage: folder !== undefined })
    await page.close()
  }
  if (folder === undefined) {
    for (const [name, scheme] of Object.entries(documented)) {
      await shoot(name, scheme, 1280, fileURLToPath(new URL(`docs/images/explorer-${name}.png`, ROOT)))
    }
  } else {
    for (const name of Object.keys(pages).filter((name) => only.length === 0 || only.includes(name))) {
      await shoot(name, 'light', 1280, `${folder}/${name}-light.png`)
      await shoot(name, 'dark', 1280, `${folder}/${name}-dark.png`)
      await shoot(name, 'light', 400, `${folder}/${name}-phone.png`)
    }
  }
} finally {
  await browser.close()
  await server.close({ graceMs: 0 })
  await node.close()
}
