/** Nodes of one cluster in this process, and what their subscribers receive. */
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { randomNumbers } from './random-numbers.ts'

/** Calls a method of a node in process. */
// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
export function rpc(node: Node, method: string, ...params: unknown[]): Promise<any> {
  return node.request({ method, params })
}

/** Resolves once a condition holds; fails after so many seconds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  seconds = 20,
): Promise<void> {
  const end = performance.now() + seconds * 1_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not after ${seconds} seconds: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

let clusters = 0

/** A new cluster without nodes. */
export function newCluster(url: string, common: NodeOptions = {}) {
  const clusterName = `test-${process.pid}-${++clusters}`
  const nodes = new Set<Node>()
  return {
    clusterName,
    async start(options: NodeOptions = {}): Promise<Node> {
      const node = await createNode({ cluster: url, clusterName, ...common, ...options })
      nodes.add(node)
      return node
    },
    async stop(node: Node): Promise<void> {
      nodes.delete(node)
      await node.close()
    },
    async close(): Promise<void> {
      await Promise.all([...nodes].map((node) => node.close()))
      nodes.clear()
    },
  }
}

/** A started cluster. */
export type TestCluster = ReturnType<typeof newCluster>

/** The role of a node as its readiness page reports it. */
export async function roleOf(node: Node): Promise<string | undefined> {
  return (await node.health())?.cluster?.role
}

/** What subscribers and pollers of a node have received. */
export interface Story {
  readonly heads: string[]
  readonly logs: string[]
  readonly pending: string[]
  /** Polls the filters. */
  poll(): Promise<{ readonly blocks: string[]; readonly logs: string[]; readonly pending: string[] }>
}

/** Subscribes to all events of a node. */
export async function storyOf(node: Node): Promise<Story> {
  const heads = await rpc(node, 'eth_subscribe', 'newHeads')
  const logs = await rpc(node, 'eth_subscribe', 'logs', {})
  const pending = await rpc(node, 'eth_subscribe', 'newPendingTransactions')
  const filters = {
    blocks: await rpc(node, 'eth_newBlockFilter'),
    logs: await rpc(node, 'eth_newFilter', {}),
    pending: await rpc(node, 'eth_newPendingTransactionFilter'),
  }
  const seen: Record<string, string[]> = { [heads]: [], [logs]: [], [pending]: [] }
  node.on('message', ({ data }) => {
    const { subscription, result } = data as { subscription: string; result: unknown }
    seen[subscription]?.push(JSON.stringify(result))
  })
  const polled = { blocks: [] as string[], logs: [] as string[], pending: [] as string[] }
  return {
    heads: seen[heads] as string[],
    logs: seen[logs] as string[],
    pending: seen[pending] as string[],
    async poll() {
      for (const kind of ['blocks', 'logs', 'pending'] as const) {
        const entries: unknown[] = await rpc(node, 'eth_getFilterChanges', filters[kind])
        polled[kind].push(...entries.map((entry) => JSON.stringify(entry)))
      }
      return polled
    },
  }
}

/** Init code of a contract that emits one log without topics on each call: PUSH1 0 PUSH1 0 LOG0 STOP. */
export const LOGGER_CODE = '0x6560006000a0006000526006601af3'

/**
 * Random changes of a chain through any of its nodes: transactions with logs, blocks, reorganisations, reverts, edits.
 * Resolves to the number of reorganisations and reverts among them.
 */
export async function randomChanges(nodes: readonly Node[], count: number, seed: number): Promise<number> {
  const below = randomNumbers(seed)
  const any = () => nodes[below(nodes.length)] as Node
  const first = any()
  const [from] = await rpc(first, 'eth_accounts')
  const deployed = await rpc(first, 'eth_sendTransaction', { from, data: LOGGER_CODE, gas: '0x30000' })
  const { contractAddress: to } = await rpc(first, 'eth_getTransactionReceipt', deployed)
  let snapshots: string[] = []
  let undone = 0
  for (let step = 0; step < count; step++) {
    const kind = below(10)
    if (kind < 4) await rpc(any(), 'eth_sendTransaction', { from, to, gas: '0x30000' })
    else if (kind < 5) await rpc(any(), 'evm_mine')
    else if (kind < 7) {
      // A node that lags behind the leader knows a smaller height, or that of a chain which was reverted since.
      const { number } = await rpc(first, 'eth_getBlockByNumber', 'pending', false)
      if (Number(number) > 5) {
        await rpc(any(), 'evm_reorg', { depth: 1 + below(3) })
        undone++
      }
    } else if (kind < 8) snapshots.push(await rpc(any(), 'evm_snapshot'))
    else if (kind < 9 && snapshots.length > 0) {
      const index = below(snapshots.length)
      await rpc(any(), 'evm_revert', snapshots[index])
      snapshots = snapshots.slice(0, index)
      undone++
    } else await rpc(any(), 'hardhat_setBalance', `0x${'99'.repeat(20)}`, `0x${(step + 1).toString(16)}`)
  }
  return undone
}
