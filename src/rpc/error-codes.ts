/** The JSON-RPC number of each kind of error, and the error member of a reply. */
import type { Hex } from '../encoding/hex.ts'
import {
  type BrokenRule,
  type ErrorKind,
  type ExecutionFailure,
  NodeError,
  type SourceFrame,
  type UnknownMethod,
  type UpstreamFailure,
} from '../errors.ts'
import { stackLines } from '../source-level/stack/shown-frame.ts'

/** The number by which clients know a revert, whose data they then decode (geth). */
export const EXECUTION_REVERTED = 3

/** The numbers of docs/internals/rpc-reference.md#4-errors; a new kind does not compile without one. */
export const ERROR_CODES = {
  'parse-error': -32700,
  'invalid-request': -32600,
  'block-not-found': -32600,
  'method-not-found': -32601,
  'invalid-params': -32602,
  internal: -32603,
  'wallet-disabled': -32604,
  'wrong-passphrase': -32603,
  'insufficient-funds': -32000,
  'filter-not-found': -32000,
  'not-mined': -32009,
  'receipt-timeout': 4,
  'not-runnable': 5,
  'transaction-refused': -32010,
  'limit-exceeded': -32011,
  cancelled: -32000,
  'log-limit': -32012,
  'too-many': -32005,
  reverted: -32015,
  'capability-unsupported': 5700,
  'chain-unsupported': 5710,
  'bundle-known': 5720,
  'bundle-unknown': 5730,
  'atomicity-unsupported': 5760,
  unauthorized: -32001,
  overloaded: -32002,
  'rate-limited': -32005,
  'mining-refused': -33000,
  'invalid-block': -32000,
  'execution-differs': -32603,
  'base-not-found': -32000,
  'nonce-too-low': -38010,
  'nonce-too-high': -38011,
  'price-too-low': -38012,
  'intrinsic-gas-too-low': -38013,
  'cost-not-covered': -38014,
  'block-gas-exceeded': -38015,
  'block-order': -38020,
  'timestamp-order': -38021,
  'precompile-moved-to-itself': -38022,
  'precompiles-moved-to-same': -38023,
  'initcode-too-long': -38025,
  'simulation-limit': -38026,
  upstream: -32002,
  storage: -32002,
  database: -32603,
  cluster: -32603,
  'invalid-options': -32603,
} as const satisfies Record<ErrorKind, number>

/** Data of a mined failure as Hardhat sends it. */
interface MinedFailureData {
  readonly message: string
  readonly txHash: Hex
  readonly data: Hex
}

/** The stack of failed code with what else its error has (`rpc/explained-error.ts`). */
interface ExplainedData {
  readonly stack: string
  readonly stackTrace: readonly SourceFrame[]
}

/** The `error` member of a reply. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: Hex | MinedFailureData | BrokenRule | UpstreamFailure | UnknownMethod | ExplainedData
  /** The hash of a transaction that was mined and failed. */
  readonly transactionHash?: Hex
  /** Why it failed, which the reference node's message may not say: `out of gas`. */
  readonly reason?: string
}

/** The data that the error of a mined failure has in addition to the reference node's members. */
export function minedMembers(
  failure: ExecutionFailure | undefined,
): Pick<ErrorObject, 'transactionHash' | 'reason'> {
  if (failure?.transactionHash === undefined) return {}
  return { transactionHash: failure.transactionHash, reason: failure.reason }
}

const INTERNAL = 'Internal server error'

/** Maximum length of an error message: it may repeat what the caller sent, but not megabytes of it. */
const LONGEST_MESSAGE = 500

/** A contract's own reason is not shortened; a wrong passphrase has the reference node's message. */
function shortened({ kind, message }: NodeError): string {
  if (kind === 'wrong-passphrase') return INTERNAL
  if (message.length <= LONGEST_MESSAGE || kind === 'reverted') return message
  return `${message.slice(0, LONGEST_MESSAGE - 3)}...`
}

/** The error member for an error. Anything but a `NodeError` is a bug of ours, and its message is not sent. */
export function toErrorObject(error: unknown): ErrorObject {
  if (!(error instanceof NodeError)) return { code: ERROR_CODES.internal, message: INTERNAL }
  const { kind, data } = error
  const message = shortened(error)
  const code = ERROR_CODES[kind]
  return { code, message, ...(data !== undefined && { data }), ...minedMembers(error.failure) }
}

/** The refusal of a reply that is longer than `limit` bytes. */
export function responseTooLong(limit: number): NodeError {
  return new NodeError('limit-exceeded', `Response size limit of ${limit} bytes exceeded`)
}

/** Puts the lines of contracts in front of the lines of an error's stack. */
export function prependStack(error: Error, frames: readonly SourceFrame[]): void {
  const heading = `${error.name}: ${error.message}`
  const own = error.stack ?? heading
  const rest = own.startsWith(heading) ? own.slice(heading.length) : own.slice(own.indexOf('\n    at '))
  error.stack = [heading, ...stackLines(frames)].join('\n') + rest
}

/** The error that callers in process catch: an `Error` with the members of a reply's `error` (EIP-1193). */
export class RpcError extends Error {
  readonly code: number
  readonly data: ErrorObject['data']
  declare readonly transactionHash?: Hex
  declare readonly reason?: string
  /** Where code failed, outermost first, if the sources of its contracts are known. */
  declare readonly stackTrace?: readonly SourceFrame[]

  /** The `stack` shows the lines of the contracts first. */
  constructor({ code, message, data, ...mined }: ErrorObject, stackTrace?: readonly SourceFrame[]) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
    Object.assign(this, mined, stackTrace && { stackTrace })
    if (stackTrace !== undefined) prependStack(this, stackTrace)
  }
}
