/**
 * `npm run bench:sizes`: what requests cost, what memory a node holds and how long it starts, with more and more blocks,
 * accounts, slots of a contract, logs in a filter, and snapshots. Each runs on a node with a data directory that grows from
 * size to size. `-- --only blocks,slots` some of them, `-- --most 100000` none larger; `-- --nodes anvil` other nodes of
 * `nodes.mjs`, which are in memory; `-- --record` writes the figures to `sizes.json` in docs/internals/bench, and all that is
 * recorded there to `sizes.md` and `sizes.svg`.
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
    nodes: { type: 'string', default: 'tandem-disk' },
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

/** The node that keeps what it has, in the folder. */
const KEEPS = 'tandem-disk'

async function startOn(name, folder) {
  const { args, ...node } = NODES[name]
  return start(name, name === KEEPS ? { node: { ...node, args: (port) => args(port, folder) } } : {})
}

/** A node is at rest when it has worked for less than this share of a pause, in ms: it checks its tables in 5 % of the time. */
const [REST_MS, REST_SHARE] = [500, 0.15]

/** Waits until LevelDB has merged what has grown: that is part of the growth, not of the requests after it. */
async function rest({ cpuMs }) {
  for (let worked = Number.POSITIVE_INFINITY; worked > REST_SHARE * REST_MS; ) {
    const before = cpuMs()
    await new Promise((resolve) => setTimeout(resolve, REST_MS))
    worked = cpuMs() - before
  }
}

/** Memory that the process holds, and with it the pages of its files: LevelDB maps its tables. */
function memoryOf(node, when = '') {
  return {
    [`memory${when}, MB`]: node.ownMemoryMb(),
    [`memory with pages of files${when}, MB`]: node.memoryMb(),
  }
}

/** Grows from size to size on one node; figures by their name, at each size. */
async function grow(name, what, { sizes, isKept, prepare, grow: growTo, requests }) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sizes-'))
  const rows = []
  let node = await startOn(name, folder)
  try {
    const made = await prepare?.(node)
    for (const [index, size] of sizes.filter((one) => one <= MOST).entries()) {
      const began = performance.now()
      node = { ...node, made, size }
      const cpuMs = node.cpuMs()
      await growTo(node, index === 0 ? 0 : sizes[index - 1])
      await rest(node)
      const grownCpuMs = node.cpuMs() - cpuMs
      for (let n = 0; n < WARM; n++) await USUAL['transfer with receipt'](node, n)
      const figures = {}
      for (const [asked, request] of Object.entries({ ...USUAL, ...requests }))
        figures[asked] = await costOf(node, request)
      Object.assign(figures, memoryOf(node))
      figures['growth from the size before, s of processor time'] = grownCpuMs / 1000
      if (isKept && name === KEEPS) {
        await node.stop()
        figures['on disk, MB'] = sizeOf(folder)
        node = await startOn(name, folder)
        figures['start, ms of processor time'] = node.startCpuMs
        Object.assign(figures, memoryOf(node, ' after a start'))
      }
      rows.push({ size, figures })
      if (flags.record) record({ on: name, what, rows })
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      console.error(`${name}, ${what}, ${size}: ${seconds} s`, JSON.stringify(figures))
    }
  } finally {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { on: name, what, rows }
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

/** What grows with the size, and why; in `sizes.md`. */
const NOTES = `What grows, and why:

- **Any block, any account, any slot.** About 1,500 blocks are kept decoded; another one is read by its number, and then its
  header, body and receipts, and decoded. The state after it is found by its header alone, and read node by node: as many
  nodes as the logarithm of its accounts. A read of LevelDB is logarithmic too.
- **Logs of one topic.** The index has the 2,048 bits of each block's bloom, of which 200 different topics set 29 %: 2.5 % of
  such blocks are read without a match, however long the chain is. Of these the bytes of the receipts are searched once.
- **Memory.** LevelDB maps up to 256 of its tables, of 8 MB each. Their pages count as resident once they are read, and the
  kernel takes them back when memory is short; *memory* is what the process holds beside them. Caches have bounds: 60,000
  trie nodes, about 1,500 blocks, 16 MB of code and of each index, 4 MB of receipts for logs.
  Of the 300 MB after 100,000 slots, written 1,200 a transaction, 74 MB are live objects and 85 MB the rest of V8's heap;
  the others are arrays, buffers of LevelDB, and what malloc does not give back. After a start it is 67 MB.
- **Start.** At most 64 MB of LevelDB's tables are checked before it begins, the others beside its work, and at most 16 MB of
  its log become a table. Both are reached with some 20,000 blocks.
- **Time to grow.** A block takes 0.5 ms of processor time, an account and a slot 0.2 up to 100,000, and 0.6, 0.7 and 0.5 beyond:
  LevelDB merges more tables then, in a thread of its own. That goes on for
  a while after the growth, and is counted to the reads of that time, as the 6.6 ms of any of a million accounts: when 300,000
  accounts had just been made, LevelDB's thread took 0.7 ms for each of the first 1,500 reads and none after 2,500, and the main
  thread 0.9 ms, then 0.4.
  While \`hardhat_mine\` mined 40,000 blocks on a busy machine, other calls waited for 7 ms (median) to 40 ms
  (99th percentile), and the node held 128 MB; in memory a block takes 6.4 kB.`

const JSON_FILE = join(FOLDER, 'sizes.json')

/** All that is recorded: what has grown, on which node, and when. */
const recorded = () => (existsSync(JSON_FILE) ? JSON.parse(readFileSync(JSON_FILE, 'utf8')) : [])

/** Adds what has grown to what is recorded. */
function record(grown) {
  const date = new Date().toISOString().slice(0, 10)
  const others = recorded().filter(({ on, what }) => on !== grown.on || what !== grown.what)
  const all = [...others, { ...grown, date, node: process.version }]
  const order = Object.keys(GROWTHS)
  const rank = ({ on, what }) => order.indexOf(what) + (on === KEEPS ? 0 : 0.5)
  all.sort((a, b) => rank(a) - rank(b))
  writeFileSync(JSON_FILE, `${JSON.stringify(all)}\n`)
}

/** Writes and draws all that is recorded. */
function draw() {
  const all = recorded()
  writeFileSync(join(FOLDER, 'sizes.svg'), curves(all.filter(({ on }) => on === KEEPS)))
  const sections = all.map((one) => `${tableOf(one)}\n\n${one.on}, recorded ${one.date}, Node ${one.node}.`)
  const text = `# Growth

\`npm run bench:sizes\`: milliseconds of processor time of one request on a node with a data directory, where the row names
no other unit; the median of ${SAMPLES} samples of ${REPEATS} requests, on a machine with other work.

![Curves](sizes.svg)

${NOTES}

${sections.join('\n\n')}
`
  writeFileSync(join(FOLDER, 'sizes.md'), text)
}

const isWanted = (what) => flags.only === undefined || flags.only.split(',').includes(what)
for (const name of flags.nodes.split(',')) {
  for (const what of Object.keys(GROWTHS).filter(isWanted)) {
    const grown = await grow(name, what, GROWTHS[what])
    console.log(`${tableOf(grown)}\n`)
  }
}
if (flags.record) draw()
