/** The client of an API key and the session it gets; without the counting, which only nodes with keys load. */
import type { Duplex } from 'node:stream'
import { NodeError } from '../../errors.ts'
import type { Session } from '../../rpc/session.ts'
import type { ActiveKey } from './key-ring.ts'
import type { Spent } from './limit-counter.ts'

/** A caller that has sent a valid key. */
export interface ApiKeyClient {
  readonly key: ActiveKey
  /** Charges so many calls to the key's limits; the reason when they are exceeded. */
  charge(calls: number): Promise<Spent | undefined>
  /** Charges one call, and one of the key's sockets until this one closes; the reason when a limit is exceeded. */
  openSocket(socket: Duplex): Promise<Spent | undefined>
}

/** What a session has of its client: name, rights and charges; `onSpent` is called with each refusal. */
export function sessionOf(
  { key, charge }: ApiKeyClient,
  onSpent: (spent: Spent) => void = () => {},
): Pick<Session, 'owner' | 'entitlements' | 'allows' | 'charge'> {
  return {
    owner: key.name,
    entitlements: key.entitlements,
    allows: (method) => key.allows(method),
    async charge(calls) {
      const spent = await charge(calls)
      if (spent === undefined) return undefined
      onSpent(spent)
      return new NodeError('rate-limited', spent.message)
    },
  }
}
