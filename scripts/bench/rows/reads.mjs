/** Rows of small reads over 16 connections at once, compared with a server without work, and over WebSockets. */
import { CONNECTIONS } from '../client.mjs'
import { HTTP_NODES } from '../nodes.mjs'
import { tokenAbi, wallets } from '../scenes.mjs'

const COUNT = 4000

/** Sends requests so that as many as there are connections are always on their way. */
async function parallel(count, request) {
  let sent = 0
  const connection = async () => {
    while (sent < count) await request(sent++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
}

const overSockets = { node: 'tandem-ws', most: 0.5, of: ['tandem'] }

const KINDS = {
  'block-number': {
    title: 'eth_blockNumber',
    floor: true,
    params: () => ['eth_blockNumber', []],
    limits: [{ most: 1.2, of: ['http'] }, overSockets],
  },
  balance: {
    title: 'eth_getBalance of 100 accounts one after another',
    floor: true,
    params: (_, n) => ['eth_getBalance', [wallets[n % wallets.length].address, 'latest']],
    limits: [{ most: 1.2, of: ['http'] }, overSockets],
  },
  call: {
    title: 'eth_call of balanceOf for 100 accounts one after another',
    params: ({ token }, n) => {
      const data = tokenAbi.encodeFunctionData('balanceOf', [wallets[n % wallets.length].address])
      return ['eth_call', [{ to: token, data }, 'latest']]
    },
    limits: [{ most: 1, of: ['anvil'] }, overSockets],
  },
  'call-override': {
    title: 'eth_call of balanceOf with an override of one slot of the token',
    // Of the others only Anvil has the parameter as geth has it.
    nodes: ['tandem', 'tandem-node-26', 'anvil'],
    beside: 'read-call',
    params: ({ token }, n) => {
      const data = tokenAbi.encodeFunctionData('balanceOf', [wallets[n % wallets.length].address])
      const stateDiff = { [`0x${'ab'.repeat(32)}`]: `0x${'1'.padStart(64, '0')}` }
      return ['eth_call', [{ to: token, data }, 'latest', { [token]: { stateDiff } }]]
    },
    limits: [
      { most: 1, of: ['anvil'] },
      { most: 1.1, of: ['tandem'], row: 'read-call' },
    ],
  },
}

export const READ_ROWS = Object.entries(KINDS).map(
  ([kind, { title, floor, params, limits, nodes, beside }]) => ({
    name: `read-${kind}`,
    title: `${title} over ${CONNECTIONS} connections, warm`,
    operation: 'request',
    unit: 'µs',
    chain: 'warm',
    beside,
    nodes: nodes ?? [...HTTP_NODES, 'tandem-ws', ...(floor ? ['http', 'ws'] : [])],
    limits,
    async prepare(scene) {
      await parallel(COUNT, (n) => scene.client.call(...params(scene, n)))
    },
    async sample(scene) {
      const requests = Array.from({ length: COUNT }, (_, n) => params(scene, n))
      return { operations: COUNT, work: () => parallel(COUNT, (n) => scene.client.call(...requests[n])) }
    },
  }),
)
