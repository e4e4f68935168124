/**
 * Otterscan in a browser, with the node as its source of Sourcify: `node scripts/tools/otterscan.mjs <folder>`, after
 * `npm run build`. The folder holds a built Otterscan 2.10 (`npm ci && npx vite build` in a checkout makes `dist`).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize, resolve, sep } from 'node:path'
import { chromium } from 'playwright-core'
import { getAddress } from 'viem'
import { compile } from './compile.mjs'
import { rpc, startTandem } from './nodes.mjs'
import { createChecks } from './suite.mjs'
import { deployAll } from './verify/deploy.mjs'

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
}

/** Serves the files of a folder, `config.json` as given, and the page for every other path. */
async function serveFiles(folder, configOf) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    if (pathname === '/config.json') {
      response.setHeader('Content-Type', TYPES['.json'])
      response.end(JSON.stringify(configOf()))
      return
    }
    const file = join(folder, normalize(pathname))
    const isInside = file.startsWith(folder + sep)
    const found = isInside ? await readFile(file).catch(() => undefined) : undefined
    const page = found ?? (await readFile(join(folder, 'index.html')))
    response.setHeader('Content-Type', found === undefined ? TYPES['.html'] : (TYPES[extname(file)] ?? ''))
    response.end(page)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}

/** The source tab and Read Contract of one format of Sourcify's. */
async function checkFormat({ check, page, files, node, contracts, input }, format) {
  const title = (what) => `${format}: ${what}`
  const address = getAddress(contracts.box)
  files.config = {
    erigonURL: node.url,
    sourcify: { sources: { Tandem: { url: node.url, backendFormat: format } } },
  }
  const [{ content }] = Object.values(input.sources)
  await check(title('the source tab shows the verified source'), async () => {
    await page.goto(`${files.url}/address/${address}/contract`)
    await page.getByText('library Sums').first().waitFor({ timeout: 60_000 })
    const text = await page.locator('body').innerText()
    for (const line of content.split('\n').filter((each) => each.trim() !== '')) {
      assert.ok(text.includes(line.trim()), `${line} is not on the page`)
    }
  })
  await check(title('Read Contract calls by the names of the source'), async () => {
    await page.goto(`${files.url}/address/${address}/readContract`)
    await page.getByText('start', { exact: true }).first().waitFor({ timeout: 60_000 })
  })
}

async function main(folder) {
  const files = await serveFiles(resolve(folder), () => files.config)
  const node = await startTandem('--hide-remasc', '--cors', files.url)
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const { check, results } = createChecks()
  try {
    const compiled = compile('verify/contracts/Box.sol')
    const contracts = await deployAll(node.url, (name) => compiled.contracts[name].evm)
    const { version, input, output } = compiled
    await rpc(node.url, 'evm_addSources', { solcLongVersion: version, input, output })
    const page = await browser.newPage()
    const scene = { check, page, files, node, contracts, input }
    for (const format of ['RepositoryV1', 'SourcifyAPIV2']) await checkFormat(scene, format)
  } finally {
    await browser.close()
    await node.stop()
    files.close()
  }
  const { passed, failed } = results()
  for (const title of passed) console.log(`passed: ${title}`)
  for (const { title, error } of failed) console.error(`failed: ${title}\n${error}`)
  return failed.length === 0 ? 0 : 1
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node scripts/tools/otterscan.mjs <folder of a built Otterscan>')
  process.exitCode = 2
} else {
  process.exitCode = await main(folder)
}
