/** What an answer adds to the score of the caller (docs/internals/rpc-reference.md#716-sco). */
import type { PeerEvent } from '../engine/peers/score.ts'
import { type ErrorKind, NodeError } from '../errors.ts'

const REFUSED: { readonly [K in ErrorKind]?: PeerEvent } = {
  'transaction-refused': 'invalidTransactions',
  'invalid-block': 'invalidBlocks',
  'mining-refused': 'invalidBlocks',
  'parse-error': 'invalidMessages',
  'invalid-request': 'invalidMessages',
  'method-not-found': 'unexpectedMessages',
  'limit-exceeded': 'timeoutMessages',
  'rate-limited': 'repeatedMessages',
}

/**
 * The event that an answer counts as, if any: `onSuccess` is the method's, `error` why the call was refused, undefined
 * when it was not.
 */
export function eventOf(onSuccess: PeerEvent | undefined, error: unknown): PeerEvent | undefined {
  // A transaction that is mined and reverts was a valid one.
  if (error === undefined || (error instanceof NodeError && error.kind === 'reverted')) return onSuccess
  return error instanceof NodeError ? REFUSED[error.kind] : undefined
}
