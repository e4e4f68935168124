/**
 * Chains on which rows run: a node that has just started, one that is warm, and a long one. Each node gets the same
 * transactions, signed here ahead of time.
 */
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { HDNodeWallet, Interface, Mnemonic, parseUnits } from 'ethers'
import { ACCOUNTS, CHAIN_ID, MNEMONIC, NODES } from './nodes.mjs'
import { start } from './start.mjs'

const GAS_PRICE = parseUnits('3', 'gwei')
const words = Mnemonic.fromPhrase(MNEMONIC)

/** The accounts that every node funds. */
export const wallets = Array.from({ length: ACCOUNTS }, (_, i) =>
  HDNodeWallet.fromMnemonic(words, `m/44'/60'/0'/0/${i}`),
)

const artifact = (name) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/contracts/${name}.json`, import.meta.url)))

/** Contracts of the fixtures: OpenZeppelin's ERC-20, and one with the operations of the benchmarks. */
export const TOKEN = artifact('Token')
export const PROBE = artifact('Probe')
export const tokenAbi = new Interface(TOKEN.abi)
export const probeAbi = new Interface(PROBE.abi)

/** Gets transfers; has no key. */
export const SINK = '0x00000000000000000000000000000000000a11ce'

/** A quantity of JSON-RPC. */
export const quantity = (value) => `0x${value.toString(16)}`

/** Transfers, and as many token transfers, with receipts, that a warm node has executed. They stay in its chain. */
export const WARM_OPERATIONS = 1000
/** Blocks of a long chain after the deployments: half transfers, half token transfers, one in each block, and a few of another token. */
export const LONG_BLOCKS = 5000
/** Transfers of that other token in a long chain. */
export const SPARSE_LOGS = 10

/** Gas of the transactions of a traced chain as this chain's rules count it. */
export const TRACED_GAS = { '1m': '1,000,000', '10m': '10,000,000' }
/** Rounds of the probe's arithmetic that take so much. */
const TRACED_ROUNDS = { '1m': 10_750, '10m': 110_700 }

/** Requests for a receipt after which a transaction counts as lost. */
const MOST_REQUESTS = 60_000

/**
 * The receipt of a transaction, asked for until it is there: Anvil answers before it mines. A pause before each further
 * request keeps what it spends on them low. Throws when the transaction is lost.
 */
export async function receiptOf(client, hash) {
  for (let i = 0; i < MOST_REQUESTS; i++) {
    const receipt = await client.call('eth_getTransactionReceipt', [hash])
    if (receipt !== null) return receipt
    await setTimeout(1)
  }
  throw new Error(`there is no receipt of ${hash}`)
}

/** A transfer of one wei. */
export const transfer = () => ({ to: SINK, value: 1n, gasLimit: 21_000n })

/** A transfer of `amount` of a token. */
export const tokenTransfer = (token, amount = 1n) => ({
  to: token,
  gasLimit: 100_000n,
  data: tokenAbi.encodeFunctionData('transfer', [SINK, amount]),
})

/** A running node, the nonces of the accounts, and the deployed contracts. */
export class Scene {
  /** Next nonce of each account. */
  nonces = wallets.map(() => 0)
  /** What rows remember between their samples. */
  kept = {}

  constructor(node) {
    this.node = node
    this.client = node.client
  }

  /**
   * Signs `count` transactions of account `i`, the next ones unless `fields` has nonces.
   * @param {(n: number) => object} fields of the n-th
   * @returns {Promise<string[]>} raw transactions
   */
  async sign(i, count, fields) {
    const raw = []
    for (let n = 0; n < count; n++) {
      const base = { type: 0, chainId: CHAIN_ID, gasPrice: GAS_PRICE, value: 0n, data: '0x' }
      raw.push(await wallets[i].signTransaction({ ...base, nonce: this.nonces[i]++, ...fields(n) }))
    }
    return raw
  }

  /** Sends one transaction and reads its receipt. */
  async send(raw) {
    return receiptOf(this.client, await this.client.call('eth_sendRawTransaction', [raw]))
  }

  /** Sends each transaction and reads its receipt before the next. Throws when one failed. */
  async sendAll(raws) {
    for (const raw of raws) {
      const { status } = await this.send(raw)
      if (status !== '0x1') throw new Error(`a transaction failed on ${this.node.name}`)
    }
  }

  async deploy(data) {
    const [raw] = await this.sign(0, 1, () => ({ to: null, gasLimit: 3_000_000n, data }))
    return (await this.send(raw)).contractAddress
  }

  async deployToken() {
    return this.deploy(TOKEN.bytecode + tokenAbi.encodeDeploy([10n ** 24n]).slice(2))
  }

  async height() {
    return Number(await this.client.call('eth_blockNumber'))
  }
}

/** A scene with the contracts deployed: two or three blocks. */
async function deployed(node) {
  const scene = new Scene(node)
  scene.token = await scene.deployToken()
  scene.probe = await scene.deploy(PROBE.bytecode)
  return scene
}

/** In batches, so that signing ahead takes little memory. */
async function grow(scene, blocks, fields) {
  for (let left = blocks; left > 0; left -= 500) {
    await scene.sendAll(await scene.sign(0, Math.min(left, 500), fields))
  }
}

/**
 * What rows read of the results of a floor, which has no chain and gives every request the same reply: a transaction that
 * succeeded, a snapshot that was there, an account and an allowance.
 */
const FLOOR_RESULTS = {
  eth_sendRawTransaction: `0x${'00'.repeat(32)}`,
  eth_getTransactionReceipt: { status: '0x1', contractAddress: SINK },
  evm_revert: true,
  eth_accounts: [SINK],
  eth_call: '0x1',
}

/** The same requests to a floor, so that what they cost without a chain stands beside what they cost with one. */
const floorClient = (client) => ({
  ...client,
  async call(method, params) {
    const result = await client.call(method, params)
    return FLOOR_RESULTS[method] ?? result
  },
})

/** A scene with transactions of much gas, `counts` of each size, and `traced`: their hashes by size. */
async function traced(node, counts) {
  const scene = await deployed(node)
  scene.traced = {}
  for (const [size, count] of Object.entries(counts)) {
    const data = probeAbi.encodeFunctionData('arithmetic', [TRACED_ROUNDS[size]])
    const raws = await scene.sign(4, count, () => ({ to: scene.probe, gasLimit: 25_000_000n, data }))
    scene.traced[size] = []
    for (const raw of raws) scene.traced[size].push((await scene.send(raw)).transactionHash)
  }
  return scene
}

/** Sets up each kind of chain on a node that has just started. */
const CHAINS = {
  /** Only the deployments, which the calls need. */
  fresh: deployed,
  /** After `WARM_OPERATIONS` of each kind; the token transfers are in the last blocks. */
  async warm(node) {
    const scene = await deployed(node)
    await grow(scene, WARM_OPERATIONS, transfer)
    scene.firstTokenBlock = (await scene.height()) + 1
    await grow(scene, WARM_OPERATIONS, () => tokenTransfer(scene.token))
    scene.lastTokenBlock = await scene.height()
    return scene
  },
  /** `LONG_BLOCKS` blocks; the rare token in some of them. */
  async long(node) {
    const scene = await deployed(node)
    scene.rareToken = await scene.deployToken()
    scene.firstBlock = (await scene.height()) + 1
    const part = Math.floor(LONG_BLOCKS / SPARSE_LOGS) - 1
    for (let n = 0; n < SPARSE_LOGS; n++) {
      await grow(scene, part, (i) => (i % 2 === 0 ? transfer() : tokenTransfer(scene.token)))
      await grow(scene, 1, () => tokenTransfer(scene.rareToken))
    }
    return scene
  },
  traced: (node) => traced(node, { '1m': 40, '10m': 4 }),
  /** On a node that notes every step, which takes seconds for each transaction. */
  stepped: (node) => traced(node, { '1m': 1, '10m': 1 }),
}

/**
 * Starts a node and makes its chain.
 * @param {string} name of the node
 * @param {'fresh' | 'warm' | 'long' | 'traced' | 'stepped'} chain
 * @param {object} [options] of `start`
 */
export async function open(name, chain, options) {
  const started = await start(name, { ...options, traces: chain === 'stepped' })
  const node = NODES[name].kind === 'floor' ? { ...started, client: floorClient(started.client) } : started
  try {
    return await CHAINS[chain](node)
  } catch (error) {
    await node.stop()
    throw error
  }
}
