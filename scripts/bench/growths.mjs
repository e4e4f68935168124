/**
 * What grows in `sizes.mjs`: blocks, accounts, slots, logs and snapshots, how a user makes many of them, and the requests
 * that concern them.
 */
import { quantity, receiptOf, SINK } from './scenes.mjs'

const GAS = 30_000_000

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
export const USUAL = {
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
export const GROWTHS = {
  blocks: {
    sizes: [100, 10_000, 100_000, 1_000_000],
    isKept: true,
    async grow({ client, size }) {
      const height = Number(await client.call('eth_blockNumber'))
      if (size > height) await client.call('hardhat_mine', [quantity(size - height)])
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
