/** Rows of large blocks and of logs. */
import { CONNECTIONS } from '../client.mjs'
import { ACCOUNTS } from '../nodes.mjs'
import { quantity, SPARSE_LOGS, transfer, WARM_OPERATIONS } from '../scenes.mjs'

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

const full = {
  name: 'block-1000-full',
  title: `eth_getBlockByNumber of a block of ${SIZE} with full transactions, warm`,
  operation: 'request',
  chain: 'warm',
  limits: [{ most: 0.5 }],
  prepare: requireBigBlock,
  async sample({ client, kept }) {
    async function work() {
      for (let i = 0; i < 10; i++) await client.call('eth_getBlockByNumber', [kept.bigBlock, true])
    }
    return { operations: 10, work }
  },
}

/** Asks for logs ten times. Throws when it gets another number of them. */
function logs({ client, node }, filter, wanted) {
  async function work() {
    for (let i = 0; i < 10; i++) {
      const { length } = await client.call('eth_getLogs', [filter])
      if (length !== wanted) throw new Error(`${node.name} found ${length} logs, not ${wanted}`)
    }
  }
  return { operations: 10, work }
}

const dense = {
  name: 'logs-1000',
  title: `eth_getLogs with ${WARM_OPERATIONS} results, one in each block, warm`,
  operation: 'request',
  chain: 'warm',
  limits: [{ most: 0.7 }],
  async sample(scene) {
    const { firstTokenBlock, lastTokenBlock, token } = scene
    const range = { fromBlock: quantity(firstTokenBlock), toBlock: quantity(lastTokenBlock) }
    return logs(scene, { ...range, address: token }, WARM_OPERATIONS)
  },
}

const sparse = {
  name: 'logs-sparse',
  title: `eth_getLogs over ${SPARSE_BLOCKS.toLocaleString('en')} blocks with ${SPARSE_LOGS} results`,
  operation: 'request',
  chain: 'long',
  limits: [{ most: 0.1 }],
  async prepare(scene) {
    const last = scene.firstBlock + SPARSE_BLOCKS - 1
    await scene.node.mine(Math.max(0, last - (await scene.height())))
  },
  async sample(scene) {
    const { firstBlock, rareToken } = scene
    const range = { fromBlock: quantity(firstBlock), toBlock: quantity(firstBlock + SPARSE_BLOCKS - 1) }
    return logs(scene, { ...range, address: rareToken }, SPARSE_LOGS)
  },
}

export const BLOCK_ROWS = [mined, full, dense]
export const LONG_CHAIN_ROWS = [sparse]
