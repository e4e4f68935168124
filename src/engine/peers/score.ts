/** How a caller's conduct is counted, by the rules by which the chain's nodes judge their peers. */

/** What can happen with a caller; the names are those of the counters (docs/rpc-reference.md#611-other-objects). */
export const PEER_EVENTS = [
  'successfulHandshakes',
  'failedHandshakes',
  'invalidNetworks',
  'repeatedMessages',
  'validBlocks',
  'validTransactions',
  'invalidBlocks',
  'invalidTransactions',
  'invalidMessages',
  'timeoutMessages',
  'unexpectedMessages',
  'invalidHeader',
] as const

/** One of them. */
export type PeerEvent = (typeof PEER_EVENTS)[number]

/** How often each happened, and what it comes to. */
export interface CallerEvents extends Readonly<Record<PeerEvent, number>> {
  /** Good deeds counted up, until the first bad one takes it below zero. */
  readonly score: number
  /** How often a ban hit the caller. */
  readonly punishments: number
}

/** Of somebody who was never heard of. */
export const NO_CONDUCT: CallerEvents = {
  successfulHandshakes: 0,
  failedHandshakes: 0,
  invalidNetworks: 0,
  repeatedMessages: 0,
  validBlocks: 0,
  validTransactions: 0,
  invalidBlocks: 0,
  invalidTransactions: 0,
  invalidMessages: 0,
  timeoutMessages: 0,
  unexpectedMessages: 0,
  invalidHeader: 0,
  score: 0,
  punishments: 0,
}

const GOOD: ReadonlySet<PeerEvent> = new Set(['validBlocks', 'validTransactions'])
const BAD: ReadonlySet<PeerEvent> = new Set([
  'invalidNetworks',
  'invalidBlocks',
  'invalidTransactions',
  'invalidMessages',
  'invalidHeader',
])

/** The score behind one more event: a bad one forgets all good, and no good one makes up for a bad. */
export function nextScore(score: number, event: PeerEvent): number {
  if (BAD.has(event)) return Math.min(score, 0) - 1
  return GOOD.has(event) && score >= 0 ? score + 1 : score
}
