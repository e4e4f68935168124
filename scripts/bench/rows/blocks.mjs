/** Rows of large blocks and of logs. */
import { CONNECTIONS } from '../client.mjs'
import { ACCOUNTS } from '../nodes.mjs'
import { quantity, SPARSE_LOGS, tokenTransfer, transfer, WARM_OPERATIONS } from '../scenes.mjs'

const SIZE = 1000
/** Height of the chain whose few logs are sought; the blocks above those of a long chain are empty. */
const SPARSE_BLOCKS = 10_000

/** Raw transfers of all accounts, each account's in the order of its nonces. */
export async function manyTransfers(scene) {
  const raws = []
  for (let n = 0; n < SIZE / ACCOUNTS; n++) {
    for (let i = 0; i < ACCOUNTS; i++) raws.push(...(await scene.sign(i, 1, transfer)))
  }
  return raws
}

/** Hands transactions in, over all connections at once, and mines them in one block. */
async function mineTogether({ client }, raws) {
  for (let at = 0; at < raws.length; at += CONNECTIONS) {
    const some = raws.slice(at, at + CONNECTIONS)
    await Promise.all(some.map((raw) => client.call('eth_sendRawTransaction', [raw])))
  }
  await client.call('evm_mine')
}

/** The height of a block of `SIZE` transactions. Throws when the node left some out. */
async function bigBlock({ client, node }) {
  const { number, transactions } = await client.call('eth_getBlockByNumber', ['latest', false])
  if (transactions.length < SIZE) throw new Error(`${node.name} mined ${transactions.length} only`)
  return number
}

const mined = {
  name: 'block-1000-mined',
  title: `${SIZE} transfers of ${ACCOUNTS} senders submitted over ${CONNECTIONS} connections and mined in one block, warm`,
  operation: 'transaction',
  chain: 'warm',
  limits: [{ most: 0.8 }],
  async prepare(scene) {
    await scene.node.automine(false)
    await mineTogether(scene, await manyTransfers(scene))
    scene.kept.bigBlock = await bigBlock(scene)
    await scene.node.automine(true)
  },
  async sample(scene) {
    const raws = await manyTransfers(scene)
    async function work() {
      await scene.node.automine(false)
      await mineTogether(scene, raws)
      await scene.node.automine(true)
    }
    return { operations: SIZE, work, check: () => bigBlock(scene) }
  },
}

/** The number of the scene's block of 1,000, which is mined unless there is one. */
async function requireBigBlock(scene) {
  if (scene.kept.bigBlock === undefined) await mined.prepare(scene)
  return scene.kept.bigBlock
}

/** The scene's block of 1,000 transactions, with their hashes. */
export async function bigBlockOf(scene) {
  return scene.client.call('eth_getBlockByNumber', [await requireBigBlock(scene), false])
}

/** Requests in a sample of reads of much, and ahead of the samples on chains that are kept. */
const READS = 10

/** Asks for a block in full ten times. */
async function readInFull({ client }, number) {
  for (let i = 0; i < READS; i++) await client.call('eth_getBlockByNumber', [number, true])
}

const FULL_TITLE = `eth_getBlockByNumber of a block of ${SIZE} with full transactions`

const full = {
  name: 'block-1000-full',
  title: `${FULL_TITLE}, warm`,
  operation: 'request',
  chain: 'warm',
  limits: [{ most: 0.5 }],
  async prepare(scene) {
    await readInFull(scene, await requireBigBlock(scene))
  },
  async sample(scene) {
    return { operations: READS, work: () => readInFull(scene, scene.kept.bigBlock) }
  },
}

const fullFirst = {
  name: 'block-1000-full-first',
  title: `${FULL_TITLE}, the first ${READS}`,
  operation: 'request',
  chain: 'fresh',
  async sample(scene) {
    const number = await requireBigBlock(scene)
    return { operations: READS, work: () => readInFull(scene, number) }
  },
}

/** Asks for logs ten times. Throws when it gets another number of them. */
async function readLogs({ client, node }, filter, wanted) {
  for (let i = 0; i < READS; i++) {
    const { length } = await client.call('eth_getLogs', [filter])
    if (length !== wanted) throw new Error(`${node.name} found ${length} logs, not ${wanted}`)
  }
}

const DENSE_TITLE = `eth_getLogs with ${WARM_OPERATIONS} results, one in each block`

/** Asks for the logs of the token transfers in a range of blocks. */
const readDense = (scene, first, last) =>
  readLogs(
    scene,
    { fromBlock: quantity(first), toBlock: quantity(last), address: scene.token },
    WARM_OPERATIONS,
  )

const dense = {
  name: 'logs-1000',
  title: `${DENSE_TITLE}, warm`,
  operation: 'request',
  chain: 'warm',
  limits: [{ most: 0.7 }],
  prepare: (scene) => readDense(scene, scene.firstTokenBlock, scene.lastTokenBlock),
  async sample(scene) {
    const work = () => readDense(scene, scene.firstTokenBlock, scene.lastTokenBlock)
    return { operations: READS, work }
  },
}

const denseFirst = {
  name: 'logs-1000-first',
  title: `${DENSE_TITLE}, the first ${READS}`,
  operation: 'request',
  chain: 'fresh',
  async sample(scene) {
    const first = (await scene.height()) + 1
    await scene.sendAll(await scene.sign(0, WARM_OPERATIONS, () => tokenTransfer(scene.token)))
    const last = await scene.height()
    return { operations: READS, work: () => readDense(scene, first, last) }
  },
}

/** Asks for the few logs of the rare token in the whole of a long chain. */
const readSparse = (scene) =>
  readLogs(
    scene,
    {
      fromBlock: quantity(scene.firstBlock),
      toBlock: quantity(scene.firstBlock + SPARSE_BLOCKS - 1),
      address: scene.rareToken,
    },
    SPARSE_LOGS,
  )

const sparse = {
  name: 'logs-sparse',
  title: `eth_getLogs over ${SPARSE_BLOCKS.toLocaleString('en')} blocks with ${SPARSE_LOGS} results, warm`,
  operation: 'request',
  chain: 'long',
  limits: [{ most: 0.1 }],
  async prepare(scene) {
    const last = scene.firstBlock + SPARSE_BLOCKS - 1
    await scene.node.mine(Math.max(0, last - (await scene.height())))
    await readSparse(scene)
  },
  async sample(scene) {
    return { operations: READS, work: () => readSparse(scene) }
  },
}

export const BLOCK_ROWS = [mined, full, fullFirst, dense, denseFirst]
export const LONG_CHAIN_ROWS = [sparse]
