/** Event counters and score of a caller, by the rules of the reference node's peer scoring. */

/** Events of a caller; the names are those of the counters (docs/internals/rpc-reference.md#611-other-objects). */
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

/** The name of an event. */
export type PeerEvent = (typeof PEER_EVENTS)[number]

/** How often each event occurred, and the score. */
export interface PeerCounters extends Readonly<Record<PeerEvent, number>> {
  /** Number of good events until the first bad one; from then on minus the number of bad ones. */
  readonly score: number
  /** Number of bans of the caller. */
  readonly punishments: number
}

/** Counters of an unknown caller. */
export const ZERO_COUNTERS: PeerCounters = {
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

/** The score after an event: a bad one cancels a positive score, and good ones do not raise a negative score. */
export function nextScore(score: number, event: PeerEvent): number {
  if (BAD.has(event)) return Math.min(score, 0) - 1
  return GOOD.has(event) && score >= 0 ? score + 1 : score
}
