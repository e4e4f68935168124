/** Which calls a node of a cluster passes to another node: changes, reads of data that only the leader has, and filters. */
import { fromHex } from '../encoding/hex.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import { NodeError } from '../errors.ts'
import type { Cluster } from '../replication/cluster.ts'
import { withPendingBlock } from './block-tags.ts'
import type { CallObserver } from './call-observer.ts'
import type { Dialect } from './dialects.ts'
import type { AnyMethod } from './method.ts'
import type { Session } from './session.ts'

/** A call that another node may answer. */
export interface RoutedCall {
  readonly name: string
  readonly params: unknown
  readonly session: Session
  readonly signal?: AbortSignal | undefined
}

/**
 * Passes a call to another node; `undefined` when this node answers it. Throws when no node may answer it. `deadline` is
 * milliseconds since 1970; 0 is none.
 */
export type Route = (method: AnyMethod, call: RoutedCall, deadline: number) => Promise<unknown> | undefined

/** How much of the cluster's log a node has applied. */
export type LogProgress = Pick<Cluster, 'sequence' | 'reached'>

/** Time limit of a call that has none of its own, and the part of a limit that is reserved for the reply, milliseconds. */
const LONGEST_MS = 60_000
const RESERVE_MS = 300

/** Does any parameter of a call name the pending block, which depends on the leader's pool and clock? */
function namesPending(value: unknown): boolean {
  if (value === 'pending') return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(namesPending)
}

/** Does only the leader answer this call? */
export const needsLeader = ({ answeredBy }: AnyMethod, params: unknown): boolean =>
  answeredBy === 'leader' || (answeredBy === 'each' && namesPending(params))

/** The parameters with the block that a call without one means in the dialect of this node. */
function inDialect({ pendingAt }: AnyMethod, params: unknown, dialect: Dialect): unknown {
  if (dialect === 'rsk' || pendingAt === undefined || !Array.isArray(params)) return params
  return withPendingBlock(params, pendingAt)
}

/** The node that holds a filter, by its id: the hex of a UUID that begins with the node's id. */
export function ownerOfFilter(params: unknown): string | undefined {
  const [id] = Array.isArray(params) ? params : []
  if (typeof id !== 'string' || !/^0x([0-9a-f]{2}){36}$/.test(id)) return undefined
  return new TextDecoder().decode(fromHex(id as `0x${string}`).subarray(0, 8))
}

/** Ids of filters begin with the id of their node, by which other nodes find it. */
export function withNodeId(random: RandomBytes, id: string): RandomBytes {
  const head = fromHex(`0x${id}`)
  return (purpose, length) => {
    const bytes = random(purpose, length)
    return purpose === 'filter' ? Uint8Array.from([...head, ...bytes.subarray(head.length)]) : bytes
  }
}

/** Makes the routes of a node, whose cluster is joined before its first caller. */
export function createRoute(
  clusterOf: () => Cluster | undefined,
  dialect: Dialect,
  observer?: CallObserver,
): Route {
  async function send(routed: RoutedCall, deadline: number, node?: string): Promise<unknown> {
    const { name, params, session, signal } = routed
    const { owner, label, requestId, entitlements } = session
    const call = {
      method: name,
      params,
      owner,
      label,
      requestId,
      entitlements: [...entitlements],
      carrier: observer?.carrier(),
      timeoutMs: deadline === 0 ? LONGEST_MS : Math.max(1, deadline - Date.now() - RESERVE_MS),
    }
    const isGone = () => session.isGone?.() === true || signal?.aborted === true
    const answer = await clusterOf()?.call(call, isGone, node)
    if (answer === undefined) throw new NodeError('filter-not-found', 'filter not found')
    return answer.result
  }

  return (method, call, deadline) => {
    const cluster = clusterOf()
    if (cluster === undefined) return undefined
    if (method.answeredBy === 'owner') {
      const owner = ownerOfFilter(call.params)
      if (owner === undefined || owner === cluster.id || !/^[0-9a-f]{8}$/.test(owner)) return undefined
      return send(call, deadline, owner)
    }
    if (cluster.isLeader) return undefined
    if (method.answeredBy === 'holder') throw notPassedOn(call.name)
    const params = inDialect(method, call.params, dialect)
    return needsLeader(method, params) ? send({ ...call, params }, deadline) : undefined
  }
}

/** The refusal of a call whose parameters or answer hold keys or passphrases. */
function notPassedOn(name: string): NodeError {
  return new NodeError(
    'wallet-disabled',
    `${name} must be sent to the leader of the cluster itself: keys and passphrases are not passed from node to node`,
  )
}
