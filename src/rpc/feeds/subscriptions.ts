/**
 * Subscriptions: notifications about changes of the chain and the pool
 * (docs/internals/rpc-reference.md#78-subscriptions).
 */
import type { ExecutedBlock } from '../../chain/block.ts'
import { bloomMightMatch, prepare } from '../../chain/log-filter.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { ChainUpdate, ConsoleOutput, FailedCall, PoolUpdate } from '../../engine/model.ts'
import { type LogCriteria, matchingLogs } from '../../engine/queries/logs.ts'
import type { RandomBytes } from '../../engine/randomness.ts'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { FeedEvent } from '../notification.ts'
import type { RpcOptions } from '../rpc-options.ts'
import type { Session } from '../session.ts'
import { toRpcHeader } from '../wire/header.ts'
import { toRpcLog } from '../wire/log.ts'
import { type SubscriptionKind, toRpcChainUpdate, toRpcConsole } from '../wire/subscription.ts'
import { weightOf } from './weight.ts'

/** The subscriptions of a node. One ends with its session. */
export interface Subscriptions {
  /**
   * Begins one; `criteria` count for logs. Throws `method-not-found` when the session cannot be notified, and `too-many`.
   */
  add(kind: SubscriptionKind, criteria: LogCriteria, session: Session): Hex
  /** Ends one of this session; false when it has none of this id. Throws `method-not-found` as `add`. */
  remove(id: Hex, session: Session): boolean
}

interface Parts {
  readonly node: Pick<CurrentEngine, 'events'>
  readonly options: Pick<RpcOptions, 'maxSubscriptions' | 'hideRemasc'>
  readonly logger: Logger
  readonly random: RandomBytes
}

/** Subscribers to the same events: these are searched once, and serialised once. */
interface Group {
  readonly kind: SubscriptionKind
  readonly criteria: LogCriteria
  readonly members: Map<Hex, Session>
}

const hasLogs = ({ receipts }: ExecutedBlock): boolean => receipts.some(({ logs }) => logs.length > 0)

/** Makes the subscriptions of a node. While there are none, no event is subscribed. */
export function createSubscriptions({
  node: { events },
  options: { maxSubscriptions, hideRemasc },
  logger,
  random,
}: Parts): Subscriptions {
  const groups = new Map<string, Group>()
  /** The same by kind: an event goes through those that are notified of it, and no others. */
  const byKind = new Map<SubscriptionKind, Set<Group>>()
  /** The subscriptions of each session, with the names of their groups. */
  const bySession = new Map<Session, Map<Hex, { readonly name: string; readonly weight: number }>>()
  /** Total weight of a caller's subscriptions. */
  const weights = new Map<string | Session, number>()
  let unsubscribe: (() => void) | undefined

  /** All sockets of a key are one caller; without keys each socket is one. */
  const callerOf = (session: Session): string | Session => session.owner || session

  function listen(): void {
    if (unsubscribe !== undefined) return
    const stops = [
      events.on('chain', onChain),
      events.on('pool', onPool),
      events.on('console', onConsole),
      events.on('failedCall', onFailedCall),
    ]
    unsubscribe = () => {
      for (const stop of stops) stop()
      unsubscribe = undefined
    }
  }

  function of(kind: SubscriptionKind): readonly Group[] {
    return [...(byKind.get(kind) ?? [])]
  }

  function enter(name: string, group: Group): void {
    groups.set(name, group)
    const same = byKind.get(group.kind) ?? new Set<Group>()
    byKind.set(group.kind, same.add(group))
  }

  function forget(name: string, group: Group): void {
    groups.delete(name)
    byKind.get(group.kind)?.delete(group)
  }

  function notify({ members }: Group, event: FeedEvent, may?: (session: Session) => boolean): void {
    for (const [subscription, session] of members) {
      if (may?.(session) === false) continue
      try {
        session.notify?.({ method: 'eth_subscription', subscription, event })
      } catch (error) {
        logger.error('a subscriber failed', { error, session: session.label })
      }
    }
  }

  function notifyLogs(listeners: readonly Group[], block: ExecutedBlock, removed: boolean): void {
    const events = new Map<number, FeedEvent>()
    for (const group of listeners) {
      const { addresses, topics } = group.criteria
      if (!bloomMightMatch(block.block.header.logsBloom, addresses, topics)) continue
      for (const view of matchingLogs(block, { ...group.criteria, hideRemasc }, removed)) {
        const event = events.get(view.logIndex) ?? new FeedEvent(() => toRpcLog(view))
        events.set(view.logIndex, event)
        notify(group, event)
      }
    }
  }

  /** The change as a whole, logs of removed blocks, then new headers, then their logs, each in ascending order. */
  function onChain(update: ChainUpdate): void {
    const { removed, added } = update
    for (const group of of('chain')) notify(group, new FeedEvent(() => toRpcChainUpdate(update)))
    for (const group of of('console')) {
      for (const [hash, { console, failure }] of update.notes ?? []) {
        const notes = { ...(console && { console }), failure: failure?.reason }
        notify(group, new FeedEvent(() => toRpcConsole(hash, notes)))
      }
    }
    const logs = [...removed, ...added].some(hasLogs) ? of('logs') : []
    for (const block of [...removed].reverse()) notifyLogs(logs, block, true)
    for (const group of of('newHeads')) {
      for (const block of added) notify(group, new FeedEvent(() => toRpcHeader(block)))
    }
    for (const block of added) notifyLogs(logs, block, false)
  }

  /** Simulations of the holder of one key are not for the others. */
  const isLocal = ({ owner }: Session): boolean => owner === ''

  function onConsole({ texts, transaction }: ConsoleOutput): void {
    // Those of a transaction come with the change of the chain.
    if (transaction !== undefined) return
    for (const group of of('console')) {
      notify(group, new FeedEvent(() => toRpcConsole(null, { console: texts })), isLocal)
    }
  }

  function onFailedCall({ error }: FailedCall): void {
    for (const group of of('console')) {
      notify(group, new FeedEvent(() => toRpcConsole(null, { failure: error.message })), isLocal)
    }
  }

  function onPool({ added }: PoolUpdate): void {
    for (const group of of('newPendingTransactions')) {
      for (const { hash } of added) notify(group, new FeedEvent(() => hash))
    }
  }

  function end(session: Session, id: Hex): boolean {
    const mine = bySession.get(session)
    const ended = mine?.get(id)
    if (mine === undefined || ended === undefined) return false
    const { name, weight } = ended
    mine.delete(id)
    const caller = callerOf(session)
    const left = (weights.get(caller) ?? weight) - weight
    if (left > 0) weights.set(caller, left)
    else weights.delete(caller)
    const group = groups.get(name)
    group?.members.delete(id)
    if (group?.members.size === 0) forget(name, group)
    if (groups.size === 0) unsubscribe?.()
    return true
  }

  return {
    add(kind, criteria, session) {
      const known = bySession.get(session)
      const mine = known ?? new Map<Hex, { readonly name: string; readonly weight: number }>()
      const weight = kind === 'logs' ? weightOf(criteria) : 1
      const caller = callerOf(session)
      const total = (weights.get(caller) ?? 0) + weight
      if (maxSubscriptions > 0 && total > maxSubscriptions) {
        const hint = weight > 1 ? '; large ones count as several' : ''
        throw new NodeError(
          'too-many',
          `no more than ${maxSubscriptions} subscriptions can be open at once${hint}`,
        )
      }
      if (kind === 'logs') prepare(criteria.addresses, criteria.topics)
      const id = toHex(random('subscription', 16))
      const name = kind === 'logs' ? JSON.stringify(criteria) : kind
      const group = groups.get(name) ?? { kind, criteria, members: new Map<Hex, Session>() }
      enter(name, group)
      group.members.set(id, session)
      mine.set(id, { name, weight })
      weights.set(caller, total)
      bySession.set(session, mine)
      listen()
      // A session that is closed already runs the listener at once: the subscription has to be registered before.
      if (known === undefined) {
        session.onClose?.(() => {
          for (const each of [...mine.keys()]) end(session, each)
          bySession.delete(session)
        })
      }
      return id
    },
    remove(id, session) {
      return end(session, id)
    },
  }
}
