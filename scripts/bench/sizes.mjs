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
import { table } from './markdown.mjs'
import { measure } from './measure.mjs'
import { NODES } from './nodes.mjs'
import { quantity, receiptOf, SINK } from './scenes.mjs'
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
const GAS = 30_000_000
/** Blocks that one request mines at most. */
const BLOCKS_AT_ONCE = 1000

const word = (value) => value.toString(16).padStart(64, '0')

/** Creation code of a contract that runs a body for each number from its first argument up to its second, exclusive. */
function loop(body) {
  // CALLDATALOAD(0); JUMPDEST; body with the number on the stack; +1; loop while CALLDATALOAD(32) is greater
  const code = `6000355b${body}600101806020351160035700`
  return `0x60${(code.length / 2).toString(16).padStart(2, '0')}8060093d393df3${code}`
}

/** A call of a loop in transactions of `part` numbers each, with a wei for each number where it pays. */
async function runLoop(node, to, { from, until, part, pays = false }) {
  const [sender] = await node.client.call('eth_accounts')
  for (let at = from; at < until; at += part) {
    const end = Math.min(at + part, until)
    const data = `0x${word(at)}${word(end)}`
    const value = quantity(pays ? end - at : 0)
    await send(node, { from: sender, to, data, gas: quantity(GAS), value })
  }
}

async function send({ client }, fields) {
  const receipt = await receiptOf(client, await client.call('eth_sendTransaction', [fields]))
  if (receipt.status !== '0x1') throw new Error('a transaction failed')
  return receipt
}

async function deployLoop(node, body) {
  const [from] = await node.client.call('eth_accounts')
  return (await send(node, { from, data: loop(body), gas: quantity(1_000_000) })).contractAddress
}

/** The first number of accounts: those below may be precompiled contracts. */
const FIRST_ACCOUNT = 2 ** 32

/** Requests that do not concern what grows. */
const USUAL = {
  'transfer with receipt': async (node, n) => {
    const [from] = await node.client.call('eth_accounts')
    await send(node, { from, to: SINK, value: '0x1', gas: quantity(30_000 + n) })
  },
  eth_call: ({ client }) => client.call('eth_call', [{ to: SINK, data: '0x' }, 'latest']),
  'eth_getBlockByNumber, latest': ({ client }) => client.call('eth_getBlockByNumber', ['latest', false]),
  'snapshot and revert': async ({ client }) => {
    const id = await client.call('evm_snapshot')
    if (!(await client.call('evm_revert', [id]))) throw new Error('there is no snapshot')
  },
}

/**
 * What grows: its sizes; what is there before (`prepare`, whose result the others get); `grow` from a size to another;
 * requests that concern it. `isKept`: it is there again after a start.
 */
const GROWTHS = {
  blocks: {
    sizes: [100, 10_000, 100_000, 1_000_000],
    isKept: true,
    async grow(node) {
      for (;;) {
        const left = node.size - Number(await node.client.call('eth_blockNumber'))
        if (left <= 0) break
        await node.client.call('hardhat_mine', [quantity(Math.min(left, BLOCKS_AT_ONCE))])
      }
    },
    requests: {
      'eth_getBlockByNumber, any': ({ client, size }, n) =>
        client.call('eth_getBlockByNumber', [quantity((n * 7919) % size), false]),
      'eth_getBalance, any block': ({ client, size }, n) =>
        client.call('eth_getBalance', [SINK, quantity((n * 7919) % size)]),
    },
  },
  accounts: {
    sizes: [100, 10_000, 100_000, 1_000_000],
    isKept: true,
    prepare: (node) => deployLoop(node, '60006000600060006001856000f150'),
    grow: (node, from) =>
      runLoop(node, node.made, {
        from: FIRST_ACCOUNT + from,
        until: FIRST_ACCOUNT + node.size,
        part: 600,
        pays: true,
      }),
    requests: {
      'eth_getBalance, any account': ({ client, size }, n) =>
        client.call('eth_getBalance', [
          `0x${(FIRST_ACCOUNT + ((n * 7919) % size)).toString(16).padStart(40, '0')}`,
          'latest',
        ]),
    },
  },
  slots: {
    sizes: [100, 10_000, 100_000, 1_000_000],
    isKept: true,
    prepare: (node) => deployLoop(node, '808055'),
    grow: (node, from) => runLoop(node, node.made, { from: from + 1, until: node.size + 1, part: 1200 }),
    requests: {
      'eth_getStorageAt, any slot': async ({ client, made, size }, n) => {
        const slot = 1 + ((n * 7919) % size)
        const value = await client.call('eth_getStorageAt', [made, quantity(slot), 'latest'])
        if (Number(value) !== slot) throw new Error(`slot ${slot} holds ${value}`)
      },
      'transaction that writes a slot': async (node, n) => {
        const [from] = await node.client.call('eth_accounts')
        const slot = 1 + ((n * 7919) % node.size)
        const data = `0x${word(slot)}${word(slot + 1)}`
        await send(node, { from, to: node.made, data, gas: quantity(100_000 + n) })
      },
    },
  },
  'logs in a filter': {
    sizes: [100, 10_000, 100_000],
    isKept: false,
    async prepare(node) {
      const address = await deployLoop(node, '8060006000a1')
      return { address, filter: await node.client.call('eth_newFilter', [{ address }]) }
    },
    grow: (node, from) => runLoop(node, node.made.address, { from, until: node.size, part: 200 }),
    requests: {
      'eth_getLogs of one topic': async ({ client, made, size }, n) => {
        const topics = [`0x${word((n * 7919) % size)}`]
        const query = { address: made.address, topics, fromBlock: 'earliest' }
        const found = await client.call('eth_getLogs', [query])
        if (found.length !== 1) throw new Error(`${found.length} logs instead of one`)
      },
    },
  },
  snapshots: {
    sizes: [100, 10_000, 100_000],
    isKept: false,
    async grow({ client, size }, from) {
      for (let n = from; n < size; n++) await client.call('evm_snapshot')
    },
    requests: {},
  },
}

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
