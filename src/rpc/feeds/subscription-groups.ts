/** Subscriptions to the same events, which are searched once and serialised once. */
import type { ChaosSwitch } from '../../chaos/switch.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { LogCriteria } from '../../engine/queries/logs.ts'
import type { Logger } from '../../logger.ts'
import type { FeedEvent } from '../notification.ts'
import type { Session } from '../session.ts'
import type { SubscriptionKind } from '../wire/subscription.ts'

/** The subscriptions of one kind, and for logs of the same criteria. */
export interface SubscriptionGroup {
  readonly kind: SubscriptionKind
  readonly criteria: LogCriteria
  /** By the ids of their subscriptions. */
  readonly members: Map<Hex, Session>
}

/** The groups of a node. */
export class SubscriptionGroups {
  readonly #logger: Logger
  readonly #chaos: Pick<ChaosSwitch, 'current'> | undefined
  readonly #byName = new Map<string, SubscriptionGroup>()
  /** An event goes through the groups of its kind, and no others. */
  readonly #byKind = new Map<SubscriptionKind, Set<SubscriptionGroup>>()

  /** @param chaos loses notifications or sends them twice while it is set */
  constructor(logger: Logger, chaos?: Pick<ChaosSwitch, 'current'>) {
    this.#logger = logger
    this.#chaos = chaos
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /** The groups of a kind now. */
  of(kind: SubscriptionKind): readonly SubscriptionGroup[] {
    return [...(this.#byKind.get(kind) ?? [])]
  }

  /** Adds a subscription to its group, and returns the name of that. */
  join(kind: SubscriptionKind, criteria: LogCriteria, id: Hex, session: Session): string {
    const name = kind === 'logs' ? JSON.stringify(criteria) : kind
    const group = this.#byName.get(name) ?? { kind, criteria, members: new Map<Hex, Session>() }
    this.#byName.set(name, group)
    const same = this.#byKind.get(kind) ?? new Set<SubscriptionGroup>()
    this.#byKind.set(kind, same.add(group))
    group.members.set(id, session)
    return name
  }

  /** Removes a subscription, and its group with the last one. */
  leave(name: string, id: Hex): void {
    const group = this.#byName.get(name)
    if (group === undefined) return
    group.members.delete(id)
    if (group.members.size > 0) return
    this.#byName.delete(name)
    this.#byKind.get(group.kind)?.delete(group)
  }

  /** Notifies the subscriptions of a kind, or those of the sessions that `may` selects. */
  notify(kind: SubscriptionKind, event: FeedEvent, may?: (session: Session) => boolean): void {
    for (const group of this.of(kind)) this.notifyMembers(group, event, may)
  }

  /** Notifies the subscriptions of a group. */
  notifyMembers({ members }: SubscriptionGroup, event: FeedEvent, may?: (session: Session) => boolean): void {
    for (const [subscription, session] of members) {
      if (may?.(session) === false) continue
      try {
        const copies = this.#chaos?.current?.copiesOfNext(session) ?? 1
        for (let i = 0; i < copies; i++) {
          session.notify?.({ method: 'eth_subscription', subscription, event })
        }
      } catch (error) {
        this.#logger.error('a subscriber failed', { error, session: session.label })
      }
    }
  }
}
