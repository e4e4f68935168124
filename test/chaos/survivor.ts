/** An app that sends transactions and reads its logs on a node with chaos, by the rules of docs/guides/chaos.md. */
import { FallbackProvider, FetchRequest, getCreateAddress, JsonRpcProvider, keccak256, Wallet } from 'ethers'
import { createPublicClient, defineChain, fallback, type Hex, http } from 'viem'
import type { ChaosPlanInput } from '../../src/chaos/plan.ts'
import { createNode, type Node, serve } from '../../src/index.ts'
import { COW, COW_KEY } from '../support/noting-chain.ts'

/** What the app asks of a library. A receipt that is not there is null. */
interface Client {
  send(raw: Hex): Promise<unknown>
  receipt(hash: Hex): Promise<PlacedReceipt | null>
  height(): Promise<number>
  logs(from: number, to: number): Promise<readonly Row[]>
  close(): void
}

/** A log of the app's contract. */
export interface Row {
  readonly transaction: string
  readonly topics: readonly string[]
  readonly data: string
}

interface PlacedReceipt {
  readonly block: number
  readonly status: boolean
  readonly gasUsed: bigint
}

/** What a run ends with: the same on every network, whichever blocks the transactions are in. */
export interface Outcome {
  readonly receipts: readonly { readonly hash: string; readonly status: boolean; readonly gasUsed: bigint }[]
  readonly rows: readonly Row[]
}

/** All faults that a caller meets, on one bad day. */
export const BAD_DAY: ChaosPlanInput = {
  latency: [{ distribution: 'uniform', ms: [0, 3] }],
  statuses: [
    { status: 429, probability: 0.06, window: [1, 3] },
    { status: 502, probability: 0.04 },
    { status: 503, probability: 0.03, window: [1, 2] },
  ],
  connections: {
    drop: { probability: 0.04 },
    stall: { probability: 0.004 },
    truncate: { probability: 0.03 },
  },
  stale: { probability: 0.2, blocks: [1, 3], window: [1, 4] },
  receipts: { probability: 0.4, polls: [1, 4] },
  transactions: { forgotten: { probability: 0.15 }, reordered: { probability: 0.3 } },
  blocks: {
    late: { probability: 0.3, calls: [1, 4] },
    empty: { probability: 0.15 },
    full: { probability: 0.2, transactions: [0, 1] },
  },
  reorganisations: { probability: 0.25, depth: [1, 3], lost: 0.3 },
  idleMs: 200,
}

/** No reorganisation is deeper, and no follower further behind. */
const CONFIRMATIONS = 4
const CHAIN_ID = 33
const GAS = { type: 0, chainId: CHAIN_ID, gasPrice: 1 } as const
const SENDS = 4
/** Time limit of a request, milliseconds. */
const TIMEOUT_MS = 500
/** Init code of a contract that logs what it is called with: `36 6000 6000 37 6007 36 6000 a1 00`. */
const LOGGER = '0x600d600c600039600d6000f33660006000376007366000a100'

/** The contract of the sender's first transaction; REMASC logs too, once a chain is long enough. */
const CONTRACT = getCreateAddress({ from: COW, nonce: 0 }) as Hex

function viemClient(urls: readonly string[]): Client {
  const chain = defineChain({
    id: CHAIN_ID,
    name: 'local',
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
  const options = { retryCount: 2, retryDelay: 1, timeout: TIMEOUT_MS }
  const transport = fallback(
    urls.map((url) => http(url, options)),
    { retryCount: 2, retryDelay: 1 },
  )
  const client = createPublicClient({ chain, transport, cacheTime: 0 })
  return {
    send: (serializedTransaction) => client.sendRawTransaction({ serializedTransaction }),
    async receipt(hash) {
      const found = await client.getTransactionReceipt({ hash }).catch((error: Error) => {
        if (error.name === 'TransactionReceiptNotFoundError') return null
        throw error
      })
      if (found === null) return null
      return { block: Number(found.blockNumber), status: found.status === 'success', gasUsed: found.gasUsed }
    },
    height: async () => Number(await client.getBlockNumber()),
    async logs(from, to) {
      const found = await client.getLogs({
        address: CONTRACT,
        fromBlock: BigInt(from),
        toBlock: BigInt(to),
      })
      return found.map(({ transactionHash, topics, data }) => ({
        transaction: transactionHash,
        topics: [...topics],
        data,
      }))
    },
    close() {},
  }
}

function fallbackProvider(urls: readonly string[]): FallbackProvider {
  const providers = urls.map((url) => {
    const request = new FetchRequest(url)
    request.timeout = TIMEOUT_MS
    request.setThrottleParams({ slotInterval: 1, maxAttempts: 4 })
    return new JsonRpcProvider(request, CHAIN_ID, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
  })
  const configurations = providers.map((provider, priority) => ({
    provider,
    priority: priority + 1,
    stallTimeout: 50,
  }))
  return new FallbackProvider(configurations, CHAIN_ID, { quorum: 1, cacheTimeout: -1 })
}

function ethersClient(urls: readonly string[]): Client {
  let client = fallbackProvider(urls)
  // It never asks a provider again whose first request has failed: without any left, a new one is made.
  const ask = <T>(call: (provider: FallbackProvider) => Promise<T>): Promise<T> =>
    call(client).catch((error: Error) => {
      if (error.message === 'no runners?!') {
        void client.destroy()
        client = fallbackProvider(urls)
      }
      throw error
    })
  return {
    send: (raw) => ask((provider) => provider.broadcastTransaction(raw)),
    async receipt(hash) {
      const found = await ask((provider) => provider.getTransactionReceipt(hash))
      return found && { block: found.blockNumber, status: found.status === 1, gasUsed: found.gasUsed }
    },
    height: () => ask((provider) => provider.getBlockNumber()),
    async logs(fromBlock, toBlock) {
      const found = await ask((provider) => provider.getLogs({ address: CONTRACT, fromBlock, toBlock }))
      return found.map(({ transactionHash, topics, data }) => ({
        transaction: transactionHash,
        topics: [...topics],
        data,
      }))
    },
    close() {
      void client.destroy()
    },
  }
}

/** The clients by their names. */
export const CLIENTS = { viem: viemClient, ethers: ethersClient } as const

/** Attempts after which a run counts as stuck. */
const MOST_ATTEMPTS = 200

/** Repeats until there is an answer. Throws the last error. */
async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw error
    }
  }
}

const KNOWN = /already exists|already known|nonce.*(low|used)|nonce too low/i

/** Sends signed bytes until the node has them; an earlier attempt whose answer was lost may have succeeded. */
function sent(client: Client, raw: Hex): Promise<unknown> {
  return retried(() =>
    client.send(raw).catch((error: Error) => {
      if (!KNOWN.test(`${error.message} ${JSON.stringify(error)}`)) throw error
    }),
  )
}

/** The transactions of the app: a contract, and calls that it logs. */
async function signed(): Promise<{ readonly raw: Hex; readonly hash: Hex }[]> {
  const wallet = new Wallet(COW_KEY)
  const requests = [
    { data: LOGGER, gasLimit: 200_000 },
    ...Array.from({ length: SENDS }, (_, i) => ({ to: CONTRACT, data: `0x0${i + 1}`, gasLimit: 100_000 })),
  ]
  return Promise.all(
    requests.map(async (request, nonce) => {
      const raw = (await wallet.signTransaction({ ...GAS, ...request, nonce })) as Hex
      return { raw, hash: keccak256(raw) as Hex }
    }),
  )
}

/** Waits for receipts with enough confirmations. What is missing is sent again, in order. */
async function settled(node: Node, client: Client, all: readonly { raw: Hex; hash: Hex }[]): Promise<number> {
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const receipts = []
    for (const { hash } of all) receipts.push(await retried(() => client.receipt(hash)))
    const isThere = receipts.every((receipt) => receipt !== null)
    if (isThere) {
      const last = Math.max(...receipts.map((receipt) => receipt?.block ?? 0))
      if ((await retried(() => client.height())) - last >= CONFIRMATIONS) return last
      // Time passes on the network.
      await node.request({ method: 'evm_mine', params: [] })
    } else if (round % 3 === 2) for (const { raw } of all) await sent(client, raw)
  }
  throw new Error('the transactions were never settled')
}

/** Runs the app on a new node; without a seed on a calm one. */
export async function survive(kind: keyof typeof CLIENTS, seed?: string): Promise<Outcome> {
  const node = await createNode({ seed: 'app', frozenClock: true })
  const servers = [await serve(node, { port: 0 }), await serve(node, { port: 0 })]
  const client = CLIENTS[kind](servers.map(({ url }) => url))
  try {
    const all = await signed()
    if (seed !== undefined) await node.request({ method: 'evm_setChaos', params: [BAD_DAY, seed] })
    for (const { raw } of all) await sent(client, raw)
    const last = await settled(node, client, all)
    const receipts = []
    for (const { hash } of all) {
      const found = await confirmed(client, hash)
      receipts.push({ hash, status: found.status, gasUsed: found.gasUsed })
    }
    const rows = await retried(() => client.logs(0, last))
    return { receipts, rows: rows.toSorted((a, b) => a.data.localeCompare(b.data)) }
  } finally {
    client.close()
    await Promise.all(servers.map((server) => server.close({ graceMs: 0 })))
    await node.close()
  }
}

/** A receipt that is there; a follower may not have it. */
function confirmed(client: Client, hash: Hex): Promise<PlacedReceipt> {
  return retried(async () => {
    const found = await client.receipt(hash)
    if (found === null) throw new Error(`${hash} has no receipt`)
    return found
  })
}
