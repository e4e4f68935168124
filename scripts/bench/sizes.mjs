/**
 * `npm run bench:sizes`: what requests cost, what memory a node holds and how long it starts, with more and more blocks,
 * accounts, slots of a contract, logs in a filter, and snapshots. Each runs on a node with a data directory that grows from
 * size to size. `-- --only blocks,slots` some of them, `-- --most 100000` none larger; `-- --record` writes them to
 * `sizes.json` in docs/internals/bench, and all that is recorded there to `sizes.md` and `sizes.svg`.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { curves } from './curves.mjs'
import { GROWTHS, USUAL } from './growths.mjs'
import { table } from './markdown.mjs'
import { measure } from './measure.mjs'
import { NODES } from './nodes.mjs'
import { start } from './start.mjs'

const FOLDER = fileURLToPath(new URL('../../docs/internals/bench/', import.meta.url))
const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    most: { type: 'string', default: '1000000' },
    record: { type: 'boolean', default: false },
  },
})
const MOST = Number(flags.most)

/** Times that a request is sent in a sample, samples of it, and requests before the first one. */
const [REPEATS, SAMPLES, WARM] = [100, 5, 300]
/** Processor time of one request: the median of the samples, ms. */
async function costOf(node, request) {
  const figures = []
  let n = 0
  for (let sample = 0; sample < SAMPLES; sample++) {
    const work = async () => {
      for (let i = 0; i < REPEATS; i++) await request(node, n++)
    }
    figures.push((await measure({ operations: REPEATS, work }, node.cpuMs)).cpuMs)
  }
  return figures.toSorted((a, b) => a - b)[Math.floor(SAMPLES / 2)]
}

/** Megabytes in a folder. */
const sizeOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, { size }) => sum + size, 0) / 1e6

async function startOn(folder) {
  const { args, ...node } = NODES['tandem-disk']
  return start('tandem-disk', { node: { ...node, args: (port) => args(port, folder) } })
}

/** Grows from size to size on one data directory; figures by their name, at each size. */
async function grow(what, { sizes, isKept, prepare, grow: growTo, requests }) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sizes-'))
  const rows = []
  let node = await startOn(folder)
  try {
    const made = await prepare?.(node)
    for (const [index, size] of sizes.filter((one) => one <= MOST).entries()) {
      const began = performance.now()
      node = { ...node, made, size }
      await growTo(node, index === 0 ? 0 : sizes[index - 1])
      console.error(`${what}: ${size} in ${((performance.now() - began) / 1000).toFixed(0)} s`)
      for (let n = 0; n < WARM; n++) await USUAL['transfer with receipt'](node, n)
      const figures = {}
      for (const [name, request] of Object.entries({ ...USUAL, ...requests }))
        figures[name] = await costOf(node, request)
      figures['resident memory, MB'] = node.memoryMb()
      if (isKept) {
        await node.stop()
        figures['on disk, MB'] = sizeOf(folder)
        node = await startOn(folder)
        figures['start, ms of processor time'] = node.startCpuMs
        figures['resident memory after a start, MB'] = node.memoryMb()
      }
      rows.push({ size, figures })
    }
  } finally {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { what, rows }
}

const cell = (value) => (value >= 10 ? value.toFixed(0) : value.toFixed(2))

/** A table of what has grown: a line for each figure, a column for each size. */
function tableOf({ what, rows }) {
  const names = Object.keys(rows[0].figures)
  const head = [what, ...rows.map(({ size }) => size.toLocaleString('en'))]
  return table(
    head,
    names.map((name) => [name, ...rows.map(({ figures }) => cell(figures[name]))]),
  )
}

/** Adds what has grown to what is recorded, and draws and writes all of it. */
function record(grown) {
  const file = join(FOLDER, 'sizes.json')
  const recorded = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  const date = new Date().toISOString().slice(0, 10)
  const others = recorded.filter(({ what }) => !grown.some((one) => one.what === what))
  const all = [...others, ...grown.map((one) => ({ ...one, date, node: process.version }))]
  const order = Object.keys(GROWTHS)
  all.sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what))
  writeFileSync(file, `${JSON.stringify(all)}\n`)
  writeFileSync(join(FOLDER, 'sizes.svg'), curves(all))
  const sections = all.map((one) => `${tableOf(one)}\n\nRecorded ${one.date}, Node ${one.node}.`)
  const text = `# Growth

\`npm run bench:sizes\`: milliseconds of processor time of one request on a node with a data directory, where the row names
no other unit; the median of ${SAMPLES} samples of ${REPEATS} requests, on a machine with other work.

![Curves](sizes.svg)

${sections.join('\n\n')}
`
  writeFileSync(join(FOLDER, 'sizes.md'), text)
}

for (const what of Object.keys(GROWTHS)) {
  if (flags.only !== undefined && !flags.only.split(',').includes(what)) continue
  const grown = await grow(what, GROWTHS[what])
  console.log(`${tableOf(grown)}\n`)
  if (flags.record) record([grown])
}
