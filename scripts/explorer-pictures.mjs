/**
 * Takes pictures of the explorer's pages, on the chain of scripts/explorer-chain.mjs:
 *
 *     npm run build && node scripts/explorer-pictures.mjs [folder] [page …]
 *
 * Without a folder it writes the pictures of the documents to docs/images. With one it writes every page, in light and
 * dark and as wide as a phone.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { createNode, serve } from '../dist/index.js'
import { clientOf, populate } from './explorer-chain.mjs'

const ROOT = new URL('../', import.meta.url)
const [folder, ...only] = process.argv.slice(2)

/** 2026-01-01, the clock of nodes and browser, so that pictures differ only where pages do. */
let now = 1_767_225_600
const pass = (seconds) => {
  now += seconds
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

/** Opens a page at the time of the chain, in one of the widths and schemes. */
async function open(url, { colorScheme = 'light', width = 1280, height = 800 }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, timezoneId: 'UTC' })
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(url, message.text())
  })
  await page.clock.setFixedTime((now + 5) * 1000)
  await page.goto(url)
  await page.getByTitle('Connected').waitFor()
  await page.waitForLoadState('networkidle')
  return page
}

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', width: 400 },
}

/** A hosted node with the use of two keys, one of which may see it. */
async function hosted() {
  const dir = mkdtempSync(join(tmpdir(), 'explorer-pictures-'))
  const file = join(dir, 'keys.json')
  const command = fileURLToPath(new URL('dist/cli/main.js', ROOT))
  const create = (name, ...more) =>
    execFileSync(process.execPath, [command, 'keys', 'create', '--api-keys', file, '--name', name, ...more], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .trim()
      .split('\n')
      .at(0)
  const operator = create('operator', '--allow', 'eth,web3,net,rpc,sco')
  const shopper = create('web-shop')
  const node = await createNode({
    profile: 'hosted',
    genesisTime: now,
    now: () => now,
    methods: ['+sco'],
  })
  await node.engine.commands.mine({ blocks: 40 })
  const server = await serve(node, { port: 0, ui: true, apiKeys: file })
  const call = clientOf(`${server.url}/${shopper}`)
  for (let i = 0; i < 25; i++) await call('eth_getBlockByNumber', `0x${i.toString(16)}`, true)
  for (let i = 0; i < 9; i++) await call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })
  for (let i = 0; i < 3; i++) await call('eth_getBalance', '0x1').catch(() => {})
  const admin = clientOf(`${server.url}/${operator}`)
  await admin('sco_banAddress', '192.0.2.0/24').catch((error) => console.error(error.message))
  return {
    url: `${server.url}/${operator}/`,
    async close() {
      await server.close({ graceMs: 0 })
      await node.close()
      rmSync(dir, { recursive: true })
    },
  }
}

const node = await createNode({ genesisTime: now, now: () => now })
const server = await serve(node, { port: 0 })
const request = clientOf(server.url)
const closing = []
try {
  const chain = await populate(request, pass)
  const url = `${server.url}/`
  /**
   * The pages: the fragment that shows them, what is done in the page before its picture is taken, what is done once
   * before, and the node of a page that shows another one.
   */
  const pages = {
    overview: {},
    blocks: { at: '#/blocks' },
    block: { at: '#/block/5' },
    'block-uncles': { at: '#/block/6' },
    transaction: { at: `#/tx/${chain.sale}` },
    creation: { at: `#/tx/${chain.creation}` },
    failure: { at: `#/tx/${chain.failed}` },
    'failure-token': { at: `#/tx/${chain.tooMuch}` },
    steps: {
      at: `#/tx/${chain.sale}`,
      async act(page) {
        await page.getByRole('button', { name: 'Load steps' }).click()
        await page
          .getByRole('button', { name: 'CALLER' })
          .or(page.getByRole('button', { name: 'CALLDATALOAD' }))
          .first()
          .click()
        await page.getByRole('button', { name: 'Compare' }).click()
        await page.getByText('Gas used').last().waitFor()
      },
    },
    contract: {
      at: `#/address/${chain.token}`,
      async act(page) {
        const form = page.getByRole('form', { name: 'balanceOf' })
        await form.getByRole('textbox').fill(chain.bob)
        await form.getByRole('button', { name: 'Call' }).click()
        await form.locator('.answer').waitFor()
      },
    },
    shop: { at: `#/address/${chain.shop}` },
    account: { at: `#/address/${chain.alice}` },
    contracts: { at: '#/contracts' },
    search: { at: '#/search/transfer' },
    snapshots: {
      at: '#/snapshots',
      async act(page) {
        await page.getByRole('button', { name: 'Compare' }).click()
        await page.getByRole('table', { name: 'Changed accounts' }).waitFor()
      },
    },
    simulate: { at: '#/simulate' },
    simulation: {
      at: `#/simulate/${chain.sale}`,
      async act(page) {
        await page.getByRole('combobox', { name: 'Function' }).waitFor()
        await page.getByRole('button', { name: 'Simulate', exact: true }).click()
        await page.getByText('Simulated 1 step').waitFor()
        await page.getByRole('tree').waitFor()
      },
    },
    clock: { at: '#/clock' },
    accounts: { at: '#/accounts' },
    console: {
      at: '#/console/eth_getBlockByNumber',
      async act(page) {
        await chain.trade()
        await page.getByText('buying 7').first().waitFor()
        const form = page.getByRole('form', { name: 'eth_getBlockByNumber' })
        await form.getByRole('textbox').first().fill('latest')
        await form.getByRole('button', { name: 'Call' }).click()
        await page.getByText('parentHash').waitFor()
      },
    },
    tree: {
      at: '#/tree',
      async act(page) {
        pass(12)
        await request('evm_reorg', { depth: 2, uncles: true })
        await page.getByRole('status').getByText('Reorganisation').waitFor()
        await page.getByRole('heading', { name: 'Last reorganisation' }).waitFor()
        const head = Number(await request('eth_blockNumber'))
        await page.getByTitle('Connected').getByText(`#${head}`).waitFor()
        await page
          .getByRole('cell', { name: String(head), exact: true })
          .first()
          .waitFor()
        pass(15)
        await page.clock.setFixedTime(now * 1000)
        await page
          .getByText(/^in \d+ s$/)
          .first()
          .waitFor({ state: 'detached' })
      },
    },
    peers: { at: '#/peers', host: hosted },
    pool: { at: '#/pool', once: chain.fill },
  }
  /** The pictures of the documents: their layout, and their height, which cuts no line of text. */
  const documented = {
    overview: { colorScheme: 'light', height: 720 },
    failure: { colorScheme: 'dark', height: 720 },
    tree: { colorScheme: 'light', height: 694 },
    contract: { colorScheme: 'light', height: 712 },
    simulation: { colorScheme: 'light', height: 1240 },
  }
  const chosen = Object.keys(pages).filter((name) =>
    folder === undefined ? name in documented : only.length === 0 || only.includes(name),
  )
  if (folder !== undefined) mkdirSync(folder, { recursive: true })
  for (const name of chosen) {
    const { at = '', act, once, host } = pages[name]
    await once?.()
    const shown = await host?.()
    if (shown !== undefined) closing.push(shown)
    const looks = folder === undefined ? { document: documented[name] } : LOOKS
    for (const [look, options] of Object.entries(looks)) {
      const page = await open(`${shown?.url ?? url}${at}`, options)
      await act?.(page)
      const path =
        folder === undefined
          ? fileURLToPath(new URL(`docs/images/explorer-${name}.png`, ROOT))
          : `${folder}/${name}-${look}.png`
      // Otherwise the clicked button is drawn as under the pointer.
      await page.mouse.move(0, 0)
      // Otherwise the page stays where the last click scrolled to.
      if (folder !== undefined) await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path, fullPage: folder !== undefined })
      await page.close()
    }
  }
} finally {
  await browser.close()
  for (const each of closing) await each.close()
  await server.close({ graceMs: 0 })
  await node.close()
}
