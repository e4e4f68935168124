/** Rows of transactions: sent one by one with receipt, in cycles of snapshot and revert, and deployed. */
import { HTTP_NODES } from '../nodes.mjs'
import { TOKEN, tokenTransfer, transfer } from '../scenes.mjs'

const KINDS = {
  transfer: { title: 'transfer with receipt', fields: () => transfer },
  erc20: { title: 'ERC-20 transfer with receipt', fields: (scene) => () => tokenTransfer(scene.token) },
}

/** Where in the life of a node transactions are sent: the chain that they find, and how many. */
const TIMES = [
  { time: '100', chain: 'fresh', count: 100, title: 'the first 100 after the start' },
  { time: '500', chain: 'fresh', count: 500, title: 'the first 500 after the start', most: 0.5 },
  { time: 'warm', chain: 'warm', count: 200, title: 'warm', most: 0.5 },
  { time: '5000', chain: 'long', count: 200, title: 'after 5,000 blocks', most: 0.5 },
]

/** A server without a chain gets the same requests, which measures the cost of HTTP. */
const WITH_FLOOR = [...HTTP_NODES, 'http']

const sequences = Object.entries(KINDS).flatMap(([kind, { title, fields }]) =>
  TIMES.map(({ time, chain, count, title: when, most }) => ({
    name: `${kind}-${time}`,
    title: `${title} over HTTP, ${when}`,
    operation: 'transaction',
    chain,
    nodes: chain === 'long' ? HTTP_NODES : WITH_FLOOR,
    limits: most === undefined ? [] : [{ most }],
    async sample(scene) {
      const raws = await scene.sign(0, count, fields(scene))
      return { operations: count, work: () => scene.sendAll(raws) }
    },
  })),
)

/** Transactions in a cycle of snapshot and revert, and cycles in a sample. */
const CYCLE = 20
const CYCLES = 10

const cycles = (name, chain, when, limits) => ({
  name,
  title: `snapshot + ${CYCLE} ERC-20 transfers with receipt + revert over HTTP, ${when}`,
  operation: 'cycle',
  chain,
  nodes: WITH_FLOOR,
  limits,
  async sample(scene) {
    const signed = []
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      // New hashes in every cycle: some nodes remember transactions from before a revert.
      scene.kept.cycles = (scene.kept.cycles ?? 0) + 1
      const gasLimit = 100_000n + BigInt(scene.kept.cycles)
      signed.push(await scene.sign(2, CYCLE, () => ({ ...tokenTransfer(scene.token, 0n), gasLimit })))
      scene.nonces[2] -= CYCLE
    }
    const { client, node } = scene
    async function work() {
      for (const raws of signed) {
        const id = await client.call('evm_snapshot')
        await scene.sendAll(raws)
        if ((await client.call('evm_revert', [id])) !== true) throw new Error(`${node.name} did not revert`)
      }
    }
    return { operations: CYCLES, work }
  },
})

const RUNTIME_BYTES = 20_000

/** Code of 20 kB, that of the token again and again, behind a constructor that returns it; each has another first byte. */
function bigCode(number) {
  const size = quantityBytes(RUNTIME_BYTES)
  // PUSH2 size, PUSH1 offset of the code, PUSH1 0, CODECOPY, PUSH2 size, PUSH1 0, RETURN
  const initCode = `61${size}600e60003961${size}6000f3`
  const runtime = `60${(number % 256).toString(16).padStart(2, '0')}${TOKEN.bytecode.slice(2).repeat(8)}`
  return `0x${initCode}${runtime.slice(0, 2 * RUNTIME_BYTES)}`
}
const quantityBytes = (number) => number.toString(16).padStart(4, '0')

const deployments = {
  name: 'deploy-20k',
  title: `deployment of ${RUNTIME_BYTES.toLocaleString('en')} bytes of code with receipt over HTTP, warm`,
  operation: 'deployment',
  chain: 'warm',
  nodes: WITH_FLOOR,
  limits: [{ most: 0.5 }],
  async sample(scene) {
    scene.kept.deployed = (scene.kept.deployed ?? 0) + 20
    const raws = await scene.sign(0, 20, (n) => ({
      to: null,
      gasLimit: 6_000_000n,
      data: bigCode(scene.kept.deployed + n),
    }))
    return { operations: raws.length, work: () => scene.sendAll(raws) }
  },
}

export const TRANSACTION_ROWS = [
  ...sequences,
  cycles('snapshot-first', 'fresh', 'the first 10 after the start', []),
  cycles('snapshot', 'warm', 'warm', [{ most: 0.4 }]),
  deployments,
]
