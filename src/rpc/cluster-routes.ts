/** Which calls a node of a cluster has another node answer: changes and what only the leader holds, and filters. */
import { fromHex } from '../encoding/hex.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import { NodeError } from '../errors.ts'
import type { Cluster } from '../replication/cluster.ts'
import type { AnswerCall } from '../replication/model.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { AnyMethod } from './method.ts'
import { namespaceOf } from './method-names.ts'
import type { Entitlement, Session } from './session.ts'

/** Has another node answer a call; `undefined` where this node does. Deadlines are milliseconds since 1970, 0 is none. */
export type Route = (
  method: AnyMethod,
  name: string,
  params: unknown,
  session: Session,
  deadline: number,
) => Promise<unknown> | undefined

/** How much of the cluster's log a node has applied. */
export type LogProgress = Pick<Cluster, 'sequence' | 'reached'>

/** Namespaces whose methods change or read what only the leader has: its keys, clock, snapshots, overrides and work. */
const LEADER_NAMESPACES: ReadonlySet<string> = new Set([
  'anvil',
  'evm',
  'hardhat',
  'miner',
  'mnr',
  'personal',
  'txpool',
])

/** Methods of other namespaces that read what only the leader has: pool, keys, mining. */
const LEADER_METHODS: ReadonlySet<string> = new Set([
  'debug_accountTransactionQuota',
  'eth_accounts',
  'eth_coinbase',
  'eth_fillTransaction',
  'eth_getWork',
  'eth_hashrate',
  'eth_mining',
  'eth_netHashrate',
  'eth_pendingTransactions',
  'eth_requestAccounts',
  'eth_sign',
  'eth_signTransaction',
  'eth_signTypedData_v4',
])

/** Scores and bans belong to the node whose callers they are about. */
const OWN_NAMESPACE = 'sco'

/** Methods whose first parameter is the id of a filter. */
const FILTER_METHODS: ReadonlySet<string> = new Set([
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_uninstallFilter',
])

/** Longest call without a limit of its own, and what is left of a limit for the reply, milliseconds. */
const LONGEST_MS = 60_000
const RESERVE_MS = 300

/** Does only the leader know the answer? The pending block depends on its pool, clock and overrides. */
function needsLeader(method: AnyMethod, name: string, params: unknown): boolean {
  const namespace = namespaceOf(name)
  if (namespace === OWN_NAMESPACE || method.notifies) return false
  if (method.changesState || LEADER_NAMESPACES.has(namespace) || LEADER_METHODS.has(method.name)) return true
  return Array.isArray(params) && params.includes('pending')
}

/** The node that holds a filter, by its id: the hex of a UUID that begins with the node's id. */
export function ownerOfFilter(params: unknown): string | undefined {
  const [id] = Array.isArray(params) ? params : []
  if (typeof id !== 'string' || !/^0x([0-9a-f]{2}){36}$/.test(id)) return undefined
  return new TextDecoder().decode(fromHex(id as `0x${string}`).subarray(0, 8))
}

/** Ids of filters begin with that of the node, by which other nodes find it. */
export function withNodeId(random: RandomBytes, id: string): RandomBytes {
  const head = fromHex(`0x${id}`)
  return (purpose, length) => {
    const bytes = random(purpose, length)
    return purpose === 'filter' ? Uint8Array.from([...head, ...bytes.subarray(head.length)]) : bytes
  }
}

/** Makes the routes of a node, whose cluster is there before its first caller. */
export function createRoute(clusterOf: () => Cluster | undefined): Route {
  async function send(
    name: string,
    params: unknown,
    session: Session,
    deadline: number,
    node?: string,
  ): Promise<unknown> {
    const left = deadline === 0 ? LONGEST_MS : Math.max(1, deadline - Date.now() - RESERVE_MS)
    const { owner, label, requestId, entitlements } = session
    const call = {
      method: name,
      params,
      owner,
      label,
      requestId,
      entitlements: [...entitlements],
      timeoutMs: left,
    }
    const answer = await clusterOf()?.call(call, node)
    if (answer === undefined) throw new NodeError('filter-not-found', 'filter not found')
    return answer.result
  }

  return (method, name, params, session, deadline) => {
    const cluster = clusterOf()
    if (cluster === undefined) return undefined
    if (FILTER_METHODS.has(method.name)) {
      const owner = ownerOfFilter(params)
      if (owner === undefined || owner === cluster.id || !/^[0-9a-f]{8}$/.test(owner)) return undefined
      return send(name, params, session, deadline, owner)
    }
    if (cluster.isLeader || !needsLeader(method, name, params)) return undefined
    return send(name, params, session, deadline)
  }
}

/** Answers the calls of other nodes, which have checked the caller's permissions. */
export function createAnswer(dispatcher: Dispatcher): AnswerCall {
  return ({ method, params, owner, label, requestId, entitlements }) =>
    dispatcher.request(method, params, {
      label: `${label}, of another node`,
      owner,
      requestId,
      entitlements: new Set(entitlements as Entitlement[]),
      allows: () => true,
    })
}
