/**
 * Feeds that are pushed: what subscribers hear when the chain or the pool moves
 * (docs/rpc-reference.md#78-subscriptions).
 */
import { randomBytes } from 'node:crypto'
import type { ExecutedBlock } from '../../chain/block.ts'
import { bloomMightMatch, prepare } from '../../chain/log-filter.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ChainUpdate, PoolUpdate } from '../../engine/model.ts'
import { type LogCriteria, matchingLogs } from '../../engine/queries/logs.ts'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { News } from '../notification.ts'
import type { Session } from '../session.ts'
import { toRpcHeader } from '../wire/header.ts'
import { toRpcLog } from '../wire/log.ts'
import type { SubscriptionKind } from '../wire/subscription.ts'
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
  readonly engine: Engine
  readonly maxSubscriptions: number
  readonly logger: Logger
}

/** Subscribers to the same thing: it is looked for once, and written once. */
interface Group {
  readonly kind: SubscriptionKind
  readonly criteria: LogCriteria
  readonly members: Map<Hex, Session>
}

/** Makes the subscriptions of a node. While there are none, they listen to nothing. */
export function createSubscriptions({ engine: { events }, maxSubscriptions, logger }: Parts): Subscriptions {
  const groups = new Map<string, Group>()
  /** The subscriptions of each session, with the names of their groups. */
  const bySession = new Map<Session, Map<Hex, { readonly name: string; readonly weight: number }>>()
  /** What all subscriptions of a caller weigh together. */
  const weights = new Map<string | Session, number>()
  let deaf: (() => void) | undefined

  /** A key is one caller however many sockets it has open; without keys each socket is one. */
  const callerOf = (session: Session): string | Session => session.owner || session

  function listen(): void {
    if (deaf !== undefined) return
    const stops = [events.on('chain', onChain), events.on('pool', onPool)]
    deaf = () => {
      for (const stop of stops) stop()
      deaf = undefined
    }
  }

  function of(kind: SubscriptionKind): Group[] {
    return [...groups.values()].filter((group) => group.kind === kind)
  }

  function tell({ members }: Group, news: News): void {
    for (const [subscription, session] of members) {
      try {
        session.notify?.({ method: 'eth_subscription', subscription, news })
      } catch (error) {
        logger.error('a subscriber failed', { error, session: session.label })
      }
    }
  }

  function tellLogs(listeners: readonly Group[], block: ExecutedBlock, removed: boolean): void {
    const said = new Map<number, News>()
    for (const group of listeners) {
      const { addresses, topics } = group.criteria
      if (!bloomMightMatch(block.block.header.logsBloom, addresses, topics)) continue
      for (const view of matchingLogs(block, group.criteria, removed)) {
        const news = said.get(view.logIndex) ?? new News(() => toRpcLog(view))
        said.set(view.logIndex, news)
        tell(group, news)
      }
    }
  }

  /** What left first, then the new headers, then their logs, each upwards. */
  function onChain({ removed, added }: ChainUpdate): void {
    const logs = of('logs')
    for (const block of [...removed].reverse()) tellLogs(logs, block, true)
    for (const group of of('newHeads')) {
      for (const block of added) tell(group, new News(() => toRpcHeader(block)))
    }
    for (const block of added) tellLogs(logs, block, false)
  }

  function onPool({ added }: PoolUpdate): void {
    for (const group of of('newPendingTransactions')) {
      for (const { hash } of added) tell(group, new News(() => hash))
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
    if (group?.members.size === 0) groups.delete(name)
    if (groups.size === 0) deaf?.()
    return true
  }

  function requireNotify(session: Session): void {
    if (session.notify === undefined) throw new NodeError('method-not-found', 'method not found')
  }

  return {
    add(kind, criteria, session) {
      requireNotify(session)
      const known = bySession.get(session)
      const mine = known ?? new Map<Hex, { readonly name: string; readonly weight: number }>()
      const weight = kind === 'logs' ? weightOf(criteria) : 1
      const caller = callerOf(session)
      const total = (weights.get(caller) ?? 0) + weight
      if (maxSubscriptions > 0 && total > maxSubscriptions) {
        const words = weight > 1 ? '; large ones count as several' : ''
        throw new NodeError(
          'too-many',
          `no more than ${maxSubscriptions} subscriptions can be open at once${words}`,
        )
      }
      if (kind === 'logs') prepare(criteria.addresses, criteria.topics)
      const id = toHex(randomBytes(16))
      const name = kind === 'logs' ? JSON.stringify(criteria) : kind
      const group = groups.get(name) ?? { kind, criteria, members: new Map<Hex, Session>() }
      groups.set(name, group)
      group.members.set(id, session)
      mine.set(id, { name, weight })
      weights.set(caller, total)
      bySession.set(session, mine)
      listen()
      // Who has left meanwhile hears of it at once, and has to find what is to be ended.
      if (known === undefined) {
        session.onClose?.(() => {
          for (const each of [...mine.keys()]) end(session, each)
          bySession.delete(session)
        })
      }
      return id
    },
    remove(id, session) {
      requireNotify(session)
      return end(session, id)
    },
  }
}
