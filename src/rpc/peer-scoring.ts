/** What a call says of who made it, for the ledger of callers. */
import type { PeerEvent } from '../engine/peers/score.ts'
import { type ErrorKind, NodeError } from '../errors.ts'

/** Methods that bring transactions, and those that bring blocks. */
const BRINGS: Readonly<Record<string, PeerEvent>> = {
  eth_sendRawTransaction: 'validTransactions',
  eth_sendTransaction: 'validTransactions',
  personal_sendTransaction: 'validTransactions',
  evm_importBlock: 'validBlocks',
  mnr_submitBitcoinBlock: 'validBlocks',
  mnr_submitBitcoinBlockTransactions: 'validBlocks',
  mnr_submitBitcoinBlockPartialMerkle: 'validBlocks',
}

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

/** The event that an answer is; `undefined` for the many that say nothing. `error` is what it was refused with, if it was. */
export function callerEventsOf(method: string, error: unknown): PeerEvent | undefined {
  // A transaction that is mined and reverts was a good one to bring.
  if (error === undefined || (error instanceof NodeError && error.kind === 'reverted')) {
    return Object.hasOwn(BRINGS, method) ? BRINGS[method] : undefined
  }
  return error instanceof NodeError ? REFUSED[error.kind] : undefined
}
