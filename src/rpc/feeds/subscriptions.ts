/**
 * Subscriptions: notifications about changes of the chain and the pool
 * (docs/internals/rpc-reference.md#78-subscriptions).
 */
import type { ExecutedBlock } from '../../chain/block.ts'
import { bloomMightMatch, prepare } from '../../chain/log-filter.ts'
import type { ChaosSwitch } from '../../chaos/switch.ts'
import { counted } from '../../counted.ts'
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
import { NO_BASE_FEE } from '../wire/block.ts'
import { toRpcHeader } from '../wire/header.ts'
import { toRpcLog } from '../wire/log.ts'
import { type SubscriptionKind, toRpcChainUpdate, toRpcConsole } from '../wire/subscription.ts'
import { SubscriptionGroups } from './subscription-groups.ts'
import { Weights, weightOf } from './weight.ts'

interface Parts {
  readonly node: Pick<CurrentEngine, 'events' | 'engine'>
  readonly options: Pick<RpcOptions, 'maxSubscriptions' | 'hideRemasc' | 'dialect'>
  readonly logger: Logger
  readonly random: RandomBytes
  readonly chaos?: Pick<ChaosSwitch, 'current'> | undefined
}

/** A subscription of a session. */
interface Held {
  /** The name of its group. */
  readonly group: string
  readonly weight: number
}

const hasLogs = ({ receipts }: ExecutedBlock): boolean => receipts.some(({ logs }) => logs.length > 0)

/** The owner of the limits: all sockets of a key together, or each socket where no keys are in use. */
const callerOf = (session: Session): string | Session => session.owner || session

/** Simulations by the holder of a key are not shown to other callers. */
const hasNoKey = ({ owner }: Session): boolean => owner === ''

/** The subscriptions of a node. One ends with its session. While there are none, no event is subscribed. */
export class Subscriptions {
  readonly #parts: Parts
  readonly #groups: SubscriptionGroups
  /** The subscriptions of each session. */
  readonly #bySession = new Map<Session, Map<Hex, Held>>()
  readonly #weights = new Weights<string | Session>()
  #unsubscribe: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#groups = new SubscriptionGroups(parts.logger, parts.chaos)
  }

  /** Begins one and returns its id; `criteria` count for logs. Throws `too-many`. */
  add(kind: SubscriptionKind, criteria: LogCriteria, session: Session): Hex {
    const weight = kind === 'logs' ? weightOf(criteria) : 1
    this.#requireCapacity(session, weight)
    if (kind === 'logs') prepare(criteria.addresses, criteria.topics)
    const id = toHex(this.#parts.random('subscription', 16))
    const group = this.#groups.join(kind, criteria, id, session)
    const known = this.#bySession.get(session)
    const mine = known ?? new Map<Hex, Held>()
    mine.set(id, { group, weight })
    this.#weights.add(callerOf(session), weight)
    this.#bySession.set(session, mine)
    this.#listen()
    // A session that is already closed calls the listener at once, so the subscription must be registered first.
    if (known === undefined) session.onClose?.(() => this.#endAll(session))
    return id
  }

  /** Ends one of this session; false when it has none of this id. */
  remove(id: Hex, session: Session): boolean {
    const mine = this.#bySession.get(session)
    const ended = mine?.get(id)
    if (mine === undefined || ended === undefined) return false
    mine.delete(id)
    this.#weights.add(callerOf(session), -ended.weight)
    this.#groups.leave(ended.group, id)
    if (this.#groups.isEmpty) {
      this.#unsubscribe?.()
      this.#unsubscribe = undefined
    }
    return true
  }

  #endAll(session: Session): void {
    for (const id of [...(this.#bySession.get(session)?.keys() ?? [])]) this.remove(id, session)
    this.#bySession.delete(session)
  }

  /** Throws `too-many` when the caller's subscriptions, with one of this weight, are more than there may be. */
  #requireCapacity(session: Session, weight: number): void {
    const { maxSubscriptions } = this.#parts.options
    if (maxSubscriptions === 0 || this.#weights.of(callerOf(session)) + weight <= maxSubscriptions) return
    const hint = weight > 1 ? '; large ones count as several' : ''
    throw new NodeError(
      'too-many',
      `no more than ${counted(maxSubscriptions, 'subscription')} can be open at once${hint}`,
    )
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return
    const { events } = this.#parts.node
    const stops = [
      events.on('chain', (update) => this.#onChain(update)),
      events.on('pool', (update) => this.#onPool(update)),
      events.on('console', (output) => this.#onConsole(output)),
      events.on('failedCall', (call) => this.#onFailedCall(call)),
    ]
    this.#unsubscribe = () => {
      for (const stop of stops) stop()
    }
  }

  /** The change as a whole, logs of removed blocks, then new headers, then their logs, each in ascending order. */
  #onChain(update: ChainUpdate): void {
    const { removed, added, notes = [] } = update
    this.#groups.notify('chain', new FeedEvent(() => toRpcChainUpdate(update)))
    for (const [hash, { console, failure }] of notes) {
      const shown = { ...(console && { console }), failure: failure?.reason }
      this.#groups.notify('console', new FeedEvent(() => toRpcConsole(hash, shown)))
    }
    const withLogs = [...removed, ...added].some(hasLogs)
    if (withLogs) for (const block of [...removed].reverse()) this.#notifyLogs(block, true)
    for (const block of added) this.#groups.notify('newHeads', new FeedEvent(() => this.#headOf(block)))
    if (withLogs) for (const block of added) this.#notifyLogs(block, false)
  }

  /** A header; where fees are those of EIP-1559, clients of the presets' nodes read them in it. */
  #headOf(block: ExecutedBlock): object {
    const { node, options } = this.#parts
    const { zeroBaseFee } = node.engine.config.rulesAt(block.block.header.number)
    return { ...toRpcHeader(block), ...(options.dialect !== 'rsk' && zeroBaseFee && NO_BASE_FEE) }
  }

  #notifyLogs(block: ExecutedBlock, removed: boolean): void {
    const { hideRemasc, dialect } = this.#parts.options
    const events = new Map<number, FeedEvent>()
    for (const group of this.#groups.of('logs')) {
      const { addresses, topics } = group.criteria
      if (!bloomMightMatch(block.block.header.logsBloom, addresses, topics)) continue
      for (const view of matchingLogs(block, { ...group.criteria, hideRemasc }, removed)) {
        const event = events.get(view.logIndex) ?? new FeedEvent(() => toRpcLog(view, dialect))
        events.set(view.logIndex, event)
        this.#groups.notifyMembers(group, event)
      }
    }
  }

  #onConsole({ texts, transaction }: ConsoleOutput): void {
    // Console output of transactions is sent with the change of the chain.
    if (transaction !== undefined) return
    this.#groups.notify('console', new FeedEvent(() => toRpcConsole(null, { console: texts })), hasNoKey)
  }

  #onFailedCall({ error }: FailedCall): void {
    const event = new FeedEvent(() => toRpcConsole(null, { failure: error.message }))
    this.#groups.notify('console', event, hasNoKey)
  }

  #onPool({ added }: PoolUpdate): void {
    for (const { hash } of added) this.#groups.notify('newPendingTransactions', new FeedEvent(() => hash))
  }
}
