/** The one family of errors that may reach a client: a kind from a closed list, words for a person, data for a program. */
import type { Hex } from './encoding/hex.ts'

/** Why something was refused. The JSON-RPC number of each stands in `rpc/error-codes.ts`. */
export const ERROR_KINDS = [
  /** The message is not JSON. */
  'parse-error',
  /** The JSON is not a request, or a batch is too large. */
  'invalid-request',
  /** A named block, or its state, does not exist. */
  'block-not-found',
  'method-not-found',
  'invalid-params',
  /** A bug of ours; the message never carries its details. */
  'internal',
  'wallet-disabled',
  /** A passphrase does not open the account's key. */
  'wrong-passphrase',
  /** An estimate failed because the sender cannot pay. */
  'insufficient-funds',
  'filter-not-found',
  /** Automining accepted the transaction, but no block took it. */
  'not-mined',
  /** A transaction is in the pool, but was not mined in the time that the caller waits; data is its hash (EIP-7966). */
  'receipt-timeout',
  /** A transaction whose receipt the caller waits for is queued behind a missing nonce; data is its hash (EIP-7966). */
  'not-runnable',
  /** The pool refused a transaction. */
  'transaction-refused',
  /** Time or response size ran out. */
  'limit-exceeded',
  /** The caller has disconnected or aborted the call; the message states how far it got. */
  'cancelled',
  /** A log query asked for more blocks or logs than the limit. */
  'log-limit',
  /** More than a caller may have: logs or blocks on the hosted service, filters, subscriptions. */
  'too-many',
  /** Code reverted or failed; data is the revert payload. */
  'reverted',
  /** These five: why a wallet refuses a bundle of calls, or knows none, each with its own code in EIP-5792. */
  'capability-unsupported',
  'chain-unsupported',
  'bundle-known',
  'bundle-unknown',
  'atomicity-unsupported',
  'unauthorized',
  'overloaded',
  'rate-limited',
  /** Submitted mining work was refused. */
  'mining-refused',
  /** A block broke a rule of the chain. */
  'invalid-block',
  /** Two EVMs executed one message differently; data names what differs. */
  'execution-differs',
  /**
   * These thirteen: why blocks or a transaction cannot be simulated, each with its own code in the specification of
   * eth_simulateV1.
   */
  'base-not-found',
  'nonce-too-low',
  'nonce-too-high',
  'price-too-low',
  'intrinsic-gas-too-low',
  'cost-not-covered',
  'block-gas-exceeded',
  'block-order',
  'timestamp-order',
  'precompile-moved-to-itself',
  'precompiles-moved-to-same',
  'initcode-too-long',
  /** More blocks, or more gas, than a simulation may have. */
  'simulation-limit',
  /** The upstream of a fork cannot be reached, lacks what is needed, or gave a wrong answer. */
  'upstream',
  /** The disk refused to write a change, which was not made, or holds damaged data. */
  'storage',
  /** The data directory is in use, foreign, or of another format; the node does not start. */
  'database',
  /** The cluster cannot be joined; the node does not start. */
  'cluster',
  /** A setting is unknown, malformed or contradicts another; the node does not start. */
  'invalid-options',
] as const

/** Why something was refused: one of the list. */
export type ErrorKind = (typeof ERROR_KINDS)[number]

/** How executed code failed: `reason` is the chain's error message, `output` the revert payload (empty otherwise). */
export interface ExecutionFailure {
  readonly kind: 'reverted' | 'failed'
  readonly reason: string
  readonly output: Uint8Array
  /** The most gas that an estimate tried. */
  readonly allowance?: bigint
  /** The transaction, where the code ran in a mined one. */
  readonly transactionHash?: Hex
}

/** A frame of a stack trace, outermost first; what is not known is absent. */
export interface SourceFrame {
  /** `call` and `internal-call` for a call site, else how the code failed (docs/guides/stack-traces.md). */
  readonly kind: string
  readonly contract?: string
  /** `constructor`, `<fallback>` and `<receive>` have no other name. */
  readonly function?: string
  readonly file?: string
  /** From 1, as the column, which counts characters. */
  readonly line?: number
  readonly column?: number
  /** Of a contract whose sources are not known, or of a precompiled contract. */
  readonly address?: Hex
  /** How the code failed, in words. */
  readonly message?: string
}

/** The rule that a block breaks, in a form for programs. */
export interface BrokenRule {
  /** The header field, or the part of the block, that the rule is about: `stateRoot`, `proofOfWork`. */
  readonly rule: string
  /** Absent where a header is checked outside any chain. */
  readonly height?: number
  /** What the rule asks for and what the block has; absent where a rule compares no values. */
  readonly expected?: string
  readonly found?: string
}

/** What became of a request to the upstream of a fork, in a form for programs. */
export interface UpstreamFailure {
  /** The origin of the URL: without user, password, path and query, which may hold a key. */
  readonly url: string
  /** How many times the request was sent. */
  readonly attempt: number
  /** Of the last answer, where there was one that failed by it. */
  readonly status?: number
}

/** A name without an open method, and the nearest name of one that has. */
export interface UnknownMethod {
  readonly method: string
  readonly nearest: string
}

/**
 * An error with a kind, a sentence, and data for programs: the payload of a revert, the rule that a block breaks, what an
 * upstream did, or an unknown method's name.
 */
export class NodeError extends Error {
  readonly kind: ErrorKind
  readonly data: Hex | BrokenRule | UpstreamFailure | UnknownMethod | undefined
  /** The source for messages in the form of another client. */
  readonly failure: ExecutionFailure | undefined
  /** Where the code failed, once that was looked up: with the sources of its contracts. */
  stackTrace: readonly SourceFrame[] | undefined

  constructor(
    kind: ErrorKind,
    message: string,
    data?: Hex | BrokenRule | UpstreamFailure | UnknownMethod,
    failure?: ExecutionFailure,
  ) {
    super(message)
    this.name = 'NodeError'
    this.kind = kind
    this.data = data
    this.failure = failure
  }
}

/** Shorthand for the most common refusal: a parameter is wrong. */
export function invalidParams(message: string): NodeError {
  return new NodeError('invalid-params', message)
}

/** A block or header breaks a rule of the chain. */
export function invalidBlock(message: string, broken: BrokenRule): NodeError {
  return new NodeError('invalid-block', message, broken)
}

/** The broken rule that an error reports; `undefined` for any other error. */
export function brokenRuleOf(error: unknown): BrokenRule | undefined {
  if (!(error instanceof NodeError) || typeof error.data !== 'object') return undefined
  return 'rule' in error.data ? error.data : undefined
}

/** An error's message, or the text of another thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
