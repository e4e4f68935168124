/**
 * `npm run bench:explorer`: how fast the explorer's pages open on a long chain, and what they hold in memory, in a
 * browser: `-- --blocks 100000`. Prints medians of five loads with their spread; a bare page is the yardstick of the
 * first paint.
 */
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { createNode, serve } from '../../dist/index.js'

const { values: flags } = parseArgs({ options: { blocks: { type: 'string', default: '100000' } } })
const BLOCKS = Number(flags.blocks)
const LOADS = 5
/** Blocks of one command, so that the node stays responsive. */
const STEP = 200

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]
const row = (name, unit, list) =>
  console.log(
    `${name.padEnd(44)} ${Math.round(median(list))} ${unit} (${Math.round(Math.min(...list))}–${Math.round(Math.max(...list))})`,
  )

const node = await createNode()
for (let left = BLOCKS; left > 0; left -= STEP) {
  await node.engine.commands.mine({ blocks: Math.min(left, STEP) })
}
const server = await serve(node, { port: 0 })
const bare = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>bare</title><p>bare')
})
await new Promise((resolve) => bare.listen(0, '127.0.0.1', resolve))
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

const firstPaint = (page) =>
  page.evaluate(`new Promise((resolve) => new PerformanceObserver((list) => {
    const entry = list.getEntriesByName('first-contentful-paint')[0]
    if (entry) resolve(entry.startTime)
  }).observe({ type: 'paint', buffered: true }))`)

/** First paints of both pages, one after the other in turns, since both suffer from what else the machine does. */
async function firstPaints(first, second) {
  const samples = { first: [], second: [] }
  for (let i = 0; i < LOADS; i++) {
    samples.first.push(...(await measure(first, firstPaint, 1)))
    samples.second.push(...(await measure(second, firstPaint, 1)))
  }
  return samples
}

/** What the browser asks for until the network rests: messages, and the bytes of their answers. */
async function requestsOf(url) {
  const page = await browser.newPage()
  const asked = { files: [], calls: [] }
  page.on('requestfinished', async (request) => {
    const list = request.method() === 'POST' ? asked.calls : asked.files
    const sizes = request.sizes()
    list.push(sizes)
  })
  await page.goto(url)
  await page.waitForLoadState('networkidle')
  const bytes = async (list) =>
    (await Promise.all(list)).reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
  const [files, calls] = [await bytes(asked.files), await bytes(asked.calls)]
  await page.close()
  return { files, calls, countOfFiles: asked.files.length, countOfCalls: asked.calls.length }
}

/** Opens a page LOADS times in a fresh context, and measures it by `work`. */
async function measure(url, work, loads = LOADS) {
  const samples = []
  for (let i = 0; i < loads; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    const began = performance.now()
    await page.goto(url)
    samples.push(await work(page, began))
    await context.close()
  }
  return samples
}

async function heap(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1024
}

try {
  const link = (page, name) => page.getByRole('link', { name, exact: true }).first().waitFor()
  console.log(`A chain of ${BLOCKS} blocks`)
  const paints = await firstPaints(`http://127.0.0.1:${bare.address().port}/`, `${server.url}/`)
  row('bare page, first paint', 'ms', paints.first)
  row('overview, first paint', 'ms', paints.second)
  row(
    'overview, first paint beyond a bare page',
    'ms',
    paints.second.map((time, i) => time - paints.first[i]),
  )
  const loaded = async (page, began) => {
    await link(page, String(BLOCKS))
    return performance.now() - began
  }
  row('overview, first rows', 'ms', await measure(`${server.url}/`, loaded))
  const asked = await requestsOf(`${server.url}/`)
  console.log(
    `overview asks for ${asked.countOfFiles} files (${asked.files} bytes), ${asked.countOfCalls} messages (${asked.calls} bytes)`,
  )
  const list = await measure(`${server.url}/#/blocks`, async (page, began) => {
    await link(page, String(BLOCKS))
    const opened = performance.now() - began
    const atEnd = performance.now()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await link(page, '0')
    return { opened, scrolled: performance.now() - atEnd, kilobytes: await heap(page) }
  })
  row(
    'blocks, first rows',
    'ms',
    list.map(({ opened }) => opened),
  )
  row(
    'blocks, scroll to the first block',
    'ms',
    list.map(({ scrolled }) => scrolled),
  )
  row(
    'blocks, memory of the page after it',
    'kB',
    list.map(({ kilobytes }) => kilobytes),
  )
} finally {
  await browser.close()
  bare.close()
  await server.close({ graceMs: 0 })
  await node.close()
}
