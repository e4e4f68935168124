/** Ponder with its embedded database: its rows are those that follow from receipts, whatever happened to the chain. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { sortedRows, TokenChain } from '../indexers/tokens.mjs'
import { installFor22, linkPackages, NODE_22 } from '../node-22.mjs'
import { freePort, HERE, rpc, startTandem, startTandemOn, withFolder } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const ROOT = join(HERE, '../..')
/** Milliseconds until the rows must be those of the chain. */
const PATIENCE = 60_000
const PATIENCE_AFTERWARDS = 180_000

/** The project in a new folder, with its packages. */
function assemble(packages) {
  const folder = join(ROOT, '.build/tools/ponder')
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(HERE, 'indexers/ponder'), folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  linkPackages(packages, join(folder, 'node_modules'))
  return folder
}

/** Ponder on a chain, with a database of its own. */
class Ponder {
  #child
  #port
  #log = ''

  static async start({ project, node, database, chain }) {
    const ponder = new Ponder()
    ponder.#port = await freePort()
    const args = ['start', '--root', project, '--schema', 'rows', '--port', String(ponder.#port)]
    ponder.#child = spawn(
      NODE_22,
      [join(project, 'node_modules/ponder/dist/esm/bin/ponder.js'), ...args, '--hostname', '127.0.0.1'],
      {
        cwd: project,
        env: {
          ...process.env,
          NODE: node,
          DATABASE: database,
          TOKENS: chain.factory,
          SENDER: chain.accounts[0],
          PONDER_TELEMETRY_DISABLED: 'true',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const read = (chunk) => (ponder.#log += chunk)
    ponder.#child.stdout.on('data', read)
    ponder.#child.stderr.on('data', read)
    return ponder
  }

  async #rows() {
    const reply = await fetch(`http://127.0.0.1:${this.#port}/rows`)
    return sortedRows(await reply.json())
  }

  /** Resolves when the rows are those of the chain. Throws what differs when they do not become so. */
  async follows(chain, patience = PATIENCE) {
    const end = Date.now() + patience
    const isOver = () => this.#child.exitCode !== null || Date.now() > end
    let head
    let expected
    for (;;) {
      try {
        const now = await chain.head()
        if (now !== head) expected = await chain.rows()
        head = now
        const rows = await this.#rows()
        if (isDeepStrictEqual(rows, expected)) return
        // Its difference takes long to write, so it is written once.
        if (isOver()) assert.deepEqual(rows, expected)
      } catch (error) {
        if (isOver()) throw new Error(`${error.message}\n${this.#log.slice(-3000)}`, { cause: error })
      }
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }

  async stop() {
    if (this.#child.exitCode !== null) return
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
  }
}

/** Deploys, transfers, a failed transfer, a revert to a snapshot, and reorganisations, while it follows. */
async function checkChanges({ check, chain, ponder, url, token }) {
  const transfer = (from, to, amount) => chain.transfer(token, from, to, amount)
  await check('follows deploys, transfers, failures and blocks of several transactions', async () => {
    const other = await chain.create(500n)
    await chain.send(transfer(0, 1, 10n), transfer(1, 2, 4n), transfer(3, 4, 1n))
    await chain.mineTogether(chain.transfer(other, 0, 2, 7n), transfer(0, 2, 1n), transfer(2, 5, 2n))
    await ponder.follows(chain)
  })
  await check('follows evm_revert to a lower head, and the blocks after it', async () => {
    const snapshot = await rpc(url, 'evm_snapshot')
    await chain.send(transfer(0, 1, 100n), transfer(0, 2, 200n), transfer(0, 3, 300n))
    await chain.create(9n)
    await ponder.follows(chain)
    await rpc(url, 'evm_revert', snapshot)
    await ponder.follows(chain)
    await chain.send(transfer(0, 1, 11n))
    await ponder.follows(chain)
  })
  await check('follows evm_reorg and anvil_reorg', async () => {
    await chain.send(transfer(0, 3, 5n), transfer(0, 4, 6n))
    await ponder.follows(chain)
    await rpc(url, 'evm_reorg', { depth: 2 })
    await ponder.follows(chain)
    await chain.send(transfer(0, 1, 3n), transfer(0, 5, 8n))
    await ponder.follows(chain)
    await rpc(url, 'anvil_reorg', 2, [[transfer(0, 5, 9n), 1]])
    await ponder.follows(chain)
  })
}

/** Restarts of either side, with changes meanwhile, and a fork. */
async function checkRestarts({ check, chain, url, token, running, start, restartNode }) {
  const transfer = (from, to, amount) => chain.transfer(token, from, to, amount)
  await check('continues after its restart, the chain having been reorganised meanwhile', async () => {
    await chain.send(transfer(0, 2, 1n), transfer(0, 2, 2n))
    await running.ponder.follows(chain)
    await running.ponder.stop()
    await rpc(url, 'evm_reorg', { depth: 2 })
    await chain.send(transfer(0, 4, 40n))
    running.ponder = await start(url)
    await running.ponder.follows(chain)
  })
  await check('continues after a restart of the node', async () => {
    await restartNode()
    await chain.send(transfer(0, 5, 50n))
    await running.ponder.follows(chain)
  })
  await check('indexes a fork from the first block of its upstream on', async () => {
    const fork = await startTandem('--fork', url)
    try {
      const forked = chain.on(fork.url)
      await forked.send(transfer(0, 6, 60n))
      const token = await forked.create(77n)
      await forked.send(forked.transfer(token, 0, 1, 7n))
      await withFolder(async (database) => {
        const ponder = await start(fork.url, database)
        try {
          await ponder.follows(forked)
          await rpc(fork.url, 'evm_reorg', { depth: 2 })
          await ponder.follows(forked)
        } finally {
          await ponder.stop()
        }
      })
    } finally {
      await fork.stop()
    }
  })
}

export async function ponder() {
  const project = assemble(installFor22('tools-22'))
  const { check, results } = createChecks()
  await withFolder(async (folder) => {
    const port = String(await freePort())
    const startNode = () => startTandemOn(join(folder, 'chain'), '--port', port)
    let node = await startNode()
    const { url } = node
    const running = {}
    try {
      const chain = await TokenChain.deploy(url)
      const token = await chain.create(1000n)
      await chain.send(chain.transfer(token, 0, 1, 5n))
      const start = (on, database = join(folder, 'rows')) =>
        Ponder.start({ project, node: on, database, chain })
      const restartNode = async () => {
        await node.stop()
        node = await startNode()
      }
      running.ponder = await start(url)
      await check('indexes what is there', () => running.ponder.follows(chain))
      await checkChanges({ check, chain, ponder: running.ponder, url, token })
      await checkRestarts({ check, chain, url, token, running, start, restartNode })
    } finally {
      await running.ponder?.stop()
      await node.stop()
    }
  })
  return outcomeOf(results())
}

/** Seeds of chaos, each with five blocks or more; after so many of them Ponder begins anew, with an empty database. */
const SEEDS = Number(process.env.CHAOS_SEEDS ?? 30)
const FIRST = Number(process.env.CHAOS_FIRST ?? 1)
const SEEDS_OF_A_DATABASE = 15
/** Nodes with a Ponder each that share the seeds: most of a bad day is waiting. */
const NODES = Number(process.env.CHAOS_NODES ?? 1)

/** What an indexer meets: refusals, lost and cut replies, followers that are behind, late receipts, reorganisations. */
const BAD_DAY = {
  statuses: [
    { status: 429, probability: 0.01, window: [1, 2] },
    { status: 503, probability: 0.03, window: [1, 2] },
  ],
  connections: { drop: { probability: 0.03 }, truncate: { probability: 0.02 } },
  stale: { probability: 0.1, blocks: [1, 2], window: [1, 3] },
  receipts: { probability: 0.3, polls: [1, 2] },
  transactions: { reordered: { probability: 0.3 } },
  blocks: {
    late: { probability: 0.3, calls: [1, 5] },
    empty: { probability: 0.1 },
    full: { probability: 0.2, transactions: [0, 2] },
  },
  reorganisations: { probability: 0.3, depth: [1, 2], lost: 0.1 },
  limits: { logBlocks: 2000 },
  idleMs: 200,
}

/** Resolves when nothing waits for a block and no block is due. */
async function settled(url) {
  for (let calm = 0; calm < 3; ) {
    const before = await rpc(url, 'eth_getBlockByNumber', 'latest', false)
    await new Promise((resolve) => setTimeout(resolve, 2 * BAD_DAY.idleMs))
    const after = await rpc(url, 'eth_getBlockByNumber', 'latest', false)
    calm = before.hash === after.hash ? calm + 1 : 0
  }
}

/** Its rows become those of the chain whatever the seed: after refusals it asks more slowly, so the bad day has an end. */
export async function ponderUnderChaos() {
  const project = assemble(installFor22('tools-22'))
  const { check, results } = createChecks()
  const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST + i)
  const counts = {}
  const nodes = []
  try {
    // One after another: the compiler blocks this process for seconds.
    for (let i = 0; i < NODES; i++) nodes.push(await startBadDays())
    await Promise.all(
      nodes.map((node, i) => {
        const own = seeds.filter((_, at) => at % NODES === i)
        return followBadDays(node, { project, check, seeds: own, counts })
      }),
    )
  } finally {
    for (const { node } of nodes) await node.stop()
  }
  console.log(
    `chaos: ${Object.entries(counts)
      .map((entry) => entry.join(' '))
      .join(', ')}`,
  )
  return outcomeOf(results())
}

/** A node with a token. */
async function startBadDays() {
  const node = await startTandem('--seed', 'ponder')
  const chain = await TokenChain.deploy(node.url)
  return { node, chain, token: await chain.create(10_000_000n) }
}

/** One node under one seed after another, and adds what was done to it to `counts`. */
async function followBadDays({ node, chain, token }, { project, check, seeds, counts }) {
  await withFolder(async (folder) => {
    const running = {}
    try {
      for (const [at, seed] of seeds.entries()) {
        await check(`seed ${seed}`, async () => {
          await rpc(node.url, 'evm_setChaos', BAD_DAY, String(seed))
          if (at % SEEDS_OF_A_DATABASE === 0) {
            await running.ponder?.stop()
            const database = join(folder, `rows-${seed}`)
            running.ponder = await Ponder.start({ project, node: node.url, database, chain })
          }
          await badDay({ url: node.url, chain, token, seed })
          const found = await rpc(node.url, 'evm_chaos')
          for (const [name, count] of Object.entries(found.counts)) counts[name] = (counts[name] ?? 0) + count
          await rpc(node.url, 'evm_setChaos', null)
          // A head that Ponder failed to read counts as read, until another one comes (`latestFetchedBlock`).
          await chain.send(chain.transfer(token, 0, 1, 1n))
          await running.ponder.follows(chain, PATIENCE_AFTERWARDS)
        })
      }
    } finally {
      await running.ponder?.stop()
    }
  })
}

/** Ten transfers in several blocks, which Ponder indexes while they are mined and replaced. */
async function badDay({ url, chain, token, seed }) {
  for (let i = 0; i < 5; i++) {
    await chain.send(chain.transfer(token, 0, 1 + (i % 4), BigInt(seed)), chain.transfer(token, 1, 2, 1n))
  }
  await settled(url)
}
