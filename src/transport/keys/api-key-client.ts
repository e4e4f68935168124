/** Somebody who holds a key, and the session that is made of that; without the counting, which only nodes with keys load. */
import type { Duplex } from 'node:stream'
import { NodeError } from '../../errors.ts'
import type { Session } from '../../rpc/session.ts'
import type { LivingKey } from './key-ring.ts'
import type { Spent } from './meter.ts'

/** Somebody who holds a key. */
export interface ApiKeyClient {
  readonly key: LivingKey
  /** Takes so many calls from the key's limits; why not, when they do not have them. */
  charge(calls: number): Promise<Spent | undefined>
  /** Takes a call, and one of the sockets that the key may have open until this one closes; why not, likewise. */
  openSocket(socket: Duplex): Promise<Spent | undefined>
}

/** The part of a session that is the guest's: name, rights, and what it pays; `onSpent` hears of each refusal. */
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
