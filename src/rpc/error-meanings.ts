/** What each kind of refusal means, in a sentence, for the description of the methods. */
import type { ErrorKind } from '../errors.ts'

/** The errors that a caller can get; the others end a node during its start. */
export type AnswerKind = Exclude<ErrorKind, 'database' | 'cluster' | 'invalid-options'>

/** A new kind does not compile without its meaning. */
export const ERROR_MEANINGS: Readonly<Record<AnswerKind, string>> = {
  'parse-error': 'The message is not JSON.',
  'invalid-request':
    'The message is not a request, is nested too deeply, has too many lists and objects, or is a batch of too many requests.',
  'block-not-found': 'There is no such block, or it is not canonical although that is required.',
  'method-not-found': 'There is no such method, or the caller may not use it.',
  'invalid-params': 'A parameter is missing, malformed or out of bounds; the message names it.',
  internal: 'The node failed.',
  'wallet-disabled': 'The node holds no keys.',
  'wrong-passphrase': 'The passphrase of the account is wrong.',
  'insufficient-funds': 'The sender cannot pay.',
  'filter-not-found': 'There is no such filter, it has expired, or it belongs to another caller.',
  'not-mined': 'The pool accepted the transaction, but it was not mined.',
  'receipt-timeout': 'The transaction is in the pool, and was not mined in time; data is its hash.',
  'not-runnable': 'The transaction is queued behind a missing nonce; data is its hash.',
  'transaction-refused': 'The pool refuses the transaction; the message gives the reason.',
  'limit-exceeded': 'The call took too long, or its result is too large.',
  cancelled: 'The caller aborted the call; the message states how far it came.',
  'log-limit': 'The query covers more blocks, or finds more logs, than the limit.',
  'too-many': 'The result, or the number of filters or subscriptions of the caller, would exceed a limit.',
  reverted: 'Code reverted or failed; data is the payload of the revert.',
  'capability-unsupported': 'The node lacks a capability that the bundle requires.',
  'chain-unsupported': 'The bundle is for another chain.',
  'bundle-known': 'There is a bundle with this id already.',
  'bundle-unknown': 'There is no bundle with this id, or it belongs to another caller.',
  'atomicity-unsupported': 'Several calls cannot be executed as one.',
  unauthorized: 'The caller has no valid key, or its address or origin is not allowed.',
  'execution-differs':
    'Two EVMs executed a message with different results (--evm both); data names what differs.',
  overloaded: 'The node is overloaded; try again later.',
  'rate-limited': 'The caller has used up its rate or quota; try again later.',
  upstream: 'The upstream of this fork cannot be reached or lacks the data; the message gives the reason.',
  storage:
    "The node's disk refuses writes, or the requested data on it is damaged; nothing was changed. The message gives the reason.",
  'mining-refused': 'The submitted work is refused; the message gives the reason.',
  'invalid-block':
    'The block breaks a rule of the chain; the message names the first, and data has `rule`, `height` and, where values are compared, `expected` and `found`.',
  'base-not-found': 'There is no block, or none that is canonical, to simulate on.',
  'nonce-too-low': 'The nonce of a simulated transaction is below that of its sender.',
  'nonce-too-high': 'The nonce of a simulated transaction is above that of its sender.',
  'price-too-low': 'The gas price of a simulated transaction is below the minimum of its block.',
  'intrinsic-gas-too-low': 'The gas of a simulated transaction does not cover its intrinsic gas.',
  'cost-not-covered': 'The sender of a simulated transaction cannot pay for its gas and value.',
  'block-gas-exceeded': 'The gas limit of a simulated block is exceeded.',
  'block-order': 'The number of a simulated block is not above that of the previous block.',
  'timestamp-order': 'The timestamp of a simulated block is not above that of the previous block.',
  'precompile-moved-to-itself': 'A precompiled contract is moved to its own address.',
  'precompiles-moved-to-same': 'Two precompiled contracts are moved to one address.',
  'initcode-too-long': 'The init code of a simulated creation is too long.',
  'simulation-limit': 'The request simulates more blocks, or uses more gas, than the limit.',
}

/** The errors that any call may get, whatever its method. */
export const OF_ANY_CALL: readonly AnswerKind[] = [
  'invalid-params',
  'limit-exceeded',
  'cancelled',
  'internal',
  'method-not-found',
  'unauthorized',
  'rate-limited',
  'overloaded',
  'upstream',
  'storage',
]
