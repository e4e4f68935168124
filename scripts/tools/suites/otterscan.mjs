/**
 * Otterscan in a browser, with the node as its JSON-RPC and as its source of Sourcify. It is in no registry: `OTTERSCAN`
 * names a checkout that was built (`npm ci --ignore-scripts && npx vite build`; 2.10, commit 9dfd87f).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize, resolve, sep } from 'node:path'
import { chromium } from 'playwright-core'
import { encodeAbiParameters, encodeFunctionData, getAddress } from 'viem'
import { compile } from '../compile.mjs'
import { rpc, startTandem } from '../nodes.mjs'
import { createChecks, missing, outcomeOf } from '../suite.mjs'
import { deploy, deployAll } from '../verify/deploy.mjs'

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
}
const FORMATS = ['RepositoryV1', 'RepositoryV2', 'SourcifyAPIV2']
const WAIT = { timeout: 30_000 }
/** Code of the error of a call that reverted. */
const REVERTED = -32015
const GAS = { gas: '0x1e8480', gasPrice: '0x3938700' }

/** Serves the files of a folder, `config.json` as given, no signatures, and the page for every other path. */
async function serveFiles(folder) {
  const files = { config: {} }
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const reply = (type, body, status = 200) =>
      response.writeHead(status, { 'Content-Type': type ?? 'application/octet-stream' }).end(body)
    if (pathname === '/config.json') return reply(TYPES['.json'], JSON.stringify(files.config))
    if (pathname.startsWith('/signatures/')) return reply('text/plain', 'not found', 404)
    const file = join(folder, normalize(pathname))
    const found = file.startsWith(folder + sep) ? await readFile(file).catch(() => undefined) : undefined
    if (found !== undefined) return reply(TYPES[extname(file)], found)
    reply(TYPES['.html'], await readFile(join(folder, 'index.html')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(files, {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => server.close(),
  })
}

/** A page that reaches nothing but the files and the node, and what went wrong on it. */
async function watchedPage(browser, allowed) {
  const page = await browser.newPage()
  const wrong = []
  await page.route(
    (url) => !allowed.includes(url.origin),
    (route) => {
      wrong.push(`asked ${route.request().url()}`)
      return route.abort()
    },
  )
  page.on('pageerror', (error) => wrong.push(`threw ${error.message}`))
  page.on('console', (message) => {
    if (/CORS policy/.test(message.text())) wrong.push(message.text())
  })
  page.on('response', async (response) => {
    const request = response.request()
    if (request.method() !== 'POST' || response.status() !== 200) return
    const body = await response.json().catch(() => [])
    for (const { id, error } of [body].flat()) {
      const call = [request.postDataJSON()].flat().find((each) => each.id === id)
      // Otterscan asks each contract for the name, symbol and decimals of a token.
      const isOfContract = call?.method === 'eth_call' && error?.code === REVERTED
      if (error !== undefined && !isOfContract)
        wrong.push(`${call?.method} ${JSON.stringify(call?.params)}: ${error.message}`)
    }
  })
  return { page, wrong }
}

/** Contracts with known sources, and a transaction of each kind. */
async function fill(url) {
  const [from, to] = await rpc(url, 'eth_accounts')
  const box = compile('verify/contracts/Box.sol')
  const counter = compile('foundry/src/Counter.sol')
  for (const { version, input, output } of [box, counter]) {
    await rpc(url, 'evm_addSources', { solcLongVersion: version, input, output })
  }
  const { abi, evm } = counter.contracts.Counter
  const words = encodeAbiParameters([{ type: 'uint256' }], [5n]).slice(2)
  const at = await deploy(url, `0x${evm.bytecode.object}${words}`)
  const increase = (by) =>
    rpc(url, 'eth_sendTransaction', {
      ...{ from, to: at, ...GAS },
      data: encodeFunctionData({ abi, functionName: 'increase', args: [by] }),
    })
  const scene = {
    boxSource: Object.values(box.input.sources)[0].content,
    box: getAddress((await deployAll(url, (name) => box.contracts[name].evm)).box),
    account: getAddress(to),
    paid: await rpc(url, 'eth_sendTransaction', { from, to, value: '0x5', ...GAS }),
    increased: await increase(3n),
    counter: getAddress(at),
  }
  // The node may tell of the failure instead of the hash.
  await increase(101n).catch(() => {})
  const { transactions } = await rpc(url, 'eth_getBlockByNumber', 'latest', false)
  const receipt = await rpc(url, 'eth_getTransactionReceipt', scene.increased)
  return { ...scene, receipt, failed: transactions[0] }
}

/** The checks of pages: title, path, and the texts that have to be there. */
function pagesOf({ receipt, increased, failed, paid, counter, account, box }, head) {
  const height = Number(receipt.blockNumber)
  return [
    ['home', '/', [`Latest block: ${head}`]],
    ['block by height', `/block/${height}`, [receipt.blockHash, '1 transaction']],
    ['block by hash', `/block/${receipt.blockHash}`, ['Block Height', String(height)]],
    ['transactions of a block', `/block/${height}/txs`, ['increase']],
    ['transaction', `/tx/${increased}`, [increased, 'Success', 'increase']],
    ['transfer', `/tx/${paid}`, [paid, 'Success']],
    ['failed transaction', `/tx/${failed}`, ['Fail with custom error', 'TooMuch']],
    ['logs', `/tx/${increased}/logs`, ['Increased']],
    ['trace', `/tx/${increased}/trace`, ['increase']],
    ['state difference', `/tx/${increased}/statediff`, [counter]],
    ['account', `/address/${account}`, [account, '1 transaction on this page']],
    ['contract', `/address/${box}`, [box, 'Contract']],
  ]
}

/** The text of a page that has all of the texts. */
async function textWith(page, texts) {
  const shown = (wanted) => {
    const text = document.body.innerText.replace(/\s+/g, ' ')
    return wanted.every((each) => text.includes(each))
  }
  try {
    await page.waitForFunction(shown, texts, WAIT)
  } catch {
    throw new Error(`${texts.join(' | ')} is not in:\n${await page.locator('body').innerText()}`)
  }
}

/** The source tab and Read Contract of one format of Sourcify's. */
async function checkFormat({ check, page, files, scene }, format) {
  const lines = scene.boxSource.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())
  await check(`${format}: the source tab shows the verified source`, async () => {
    await page.goto(`${files.url}/address/${scene.box}/contract`)
    await textWith(page, ['library Sums', ...lines.filter((line) => line !== '')])
  })
  await check(`${format}: Read Contract calls by the names of the source`, async () => {
    await page.goto(`${files.url}/address/${scene.box}/readContract`)
    const name = page.getByText('name', { exact: true })
    const read = page.locator('[data-test="read-function"]').filter({ has: name })
    await read.getByRole('button', { name: 'Query', exact: true }).click(WAIT)
    await textWith(page, ['a box'])
  })
}

async function checkSearch({ check, page, files, scene }) {
  await check('search by hash', async () => {
    await page.goto(files.url)
    const field = page.locator('[data-test="home-search-input"]')
    await field.fill(scene.increased)
    await field.press('Enter')
    await textWith(page, [scene.increased, 'Success'])
  })
}

async function checkAll({ check, browser, files, node }) {
  const scene = await fill(node.url)
  const { page, wrong } = await watchedPage(browser, [files.url, node.url])
  const parts = { check, page, files, scene }
  const use = (backendFormat) => {
    files.config = {
      erigonURL: node.url,
      assetsURLPrefix: `${files.url}/signatures`,
      chainInfo: {
        name: 'local',
        faucets: [],
        nativeCurrency: { name: 'coin', symbol: 'RBTC', decimals: 18 },
      },
      sourcify: { sources: { Tandem: { url: node.url, backendFormat } } },
    }
  }
  use('SourcifyAPIV2')
  const head = Number(await rpc(node.url, 'eth_blockNumber'))
  for (const [title, path, texts] of pagesOf(scene, head)) {
    await check(title, async () => {
      await page.goto(files.url + path)
      await textWith(page, texts)
    })
  }
  await checkSearch(parts)
  for (const format of FORMATS) {
    use(format)
    await checkFormat(parts, format)
  }
  await check('no request failed, and none went elsewhere', () => assert.deepEqual(wrong, []))
}

export async function otterscan() {
  const folder = resolve(process.env.OTTERSCAN ?? '', 'dist')
  const program = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
  if (process.env.OTTERSCAN === undefined || !existsSync(join(folder, 'index.html'))) {
    return missing('a built Otterscan (OTTERSCAN=<folder>)')
  }
  if (!existsSync(program)) return missing(program)
  const { check, results } = createChecks()
  const files = await serveFiles(folder)
  const node = await startTandem('--hide-remasc', '--cors', files.url)
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  try {
    await checkAll({ check, browser, files, node })
  } finally {
    await browser.close()
    await node.stop()
    files.close()
  }
  return outcomeOf(results())
}
