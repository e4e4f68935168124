/**
 * Errors of failed code and refused transactions in the forms that clients of Hardhat and Anvil parse: viem decodes revert
 * data under code 3, ethers and viem recognise insufficient funds and wrong nonces by words, launchers match whole sentences.
 */
import { panicCode } from '../abi/panic.ts'
import { toHex } from '../encoding/hex.ts'
import {
  EMPTY_SENDER,
  INSUFFICIENT_FUNDS,
  INTRINSIC_GAS_TOO_LOW,
  NONCE_TOO_LOW,
  REPLACEMENT_UNDERPRICED,
} from '../engine/pool/policy.ts'
import { type ExecutionFailure, NodeError } from '../errors.ts'
import { REVERTED, revertReason } from '../evm/failure-message.ts'
import { type ErrorObject, EXECUTION_REVERTED, minedMembers, toErrorObject } from './error-codes.ts'
import type { RpcOptions } from './rpc-options.ts'

/** Whose errors clients get. */
export type Dialect = RpcOptions['dialect']

/** Code of Hardhat's failure of a mined transaction. */
const MINED_FAILURE = -32603
/** What Anvil's estimates answer, before the gas that they tried. */
const ANVIL_OUT_OF_GAS = 'Out of gas: gas required exceeds allowance'
/** What Anvil's estimates answer where the sender cannot pay the value. */
const ANVIL_INSUFFICIENT_FUNDS = 'Insufficient funds for gas * price + value'
/** Codes of a refused transaction: Hardhat's "invalid input", Anvil's "transaction rejected" (EIP-1474). */
const REFUSED = { hardhat: -32000, anvil: -32003 } as const

const HARDHAT_PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x01n, 'Assertion error'],
  [0x11n, 'Arithmetic operation overflowed outside of an unchecked block'],
  [0x12n, 'Division or modulo division by zero'],
  [0x21n, 'Tried to convert a value into an enum, but the value was too big or negative'],
  [0x22n, 'Incorrectly encoded storage byte array'],
  [0x31n, '.pop() was called on an empty array'],
  [0x32n, 'Array accessed at an out-of-bounds or negative index'],
  [0x41n, 'Too much memory was allocated, or an array was created that is too large'],
  [0x51n, 'Called a zero-initialized variable of internal function type'],
])

const ANVIL_PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic/unspecified error'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic underflow or overflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'failed to convert value into enum type'],
  [0x22n, 'failed to encode storage byte array'],
  [0x31n, 'called `.pop()` on an empty array'],
  [0x32n, 'array out-of-bounds access'],
  [0x41n, 'memory allocation error'],
  [0x51n, 'called an invalid internal function'],
])

const hexCode = (code: bigint): string => `0x${code.toString(16).padStart(2, '0')}`

/** The name and arguments of a custom error whose ABI is registered. */
function customError({ reason }: ExecutionFailure): string | undefined {
  return reason.startsWith(`${REVERTED}: `) ? reason.slice(REVERTED.length + 2) : undefined
}

function hardhatMessage(failure: ExecutionFailure): string {
  const { kind, reason, output } = failure
  const prefix = 'VM Exception while processing transaction:'
  if (kind === 'failed') return reason === 'out of gas' ? 'Transaction ran out of gas' : `${prefix} ${reason}`
  if (output.length === 0) return 'Transaction reverted without a reason string'
  const text = revertReason(output)
  if (text !== undefined) return `${prefix} reverted with reason string '${text}'`
  const panic = panicCode(output)
  if (panic !== undefined) {
    return `${prefix} reverted with panic code ${hexCode(panic)} (${HARDHAT_PANICS.get(panic) ?? 'unknown panic code'})`
  }
  const custom = customError(failure)
  if (custom !== undefined) return `${prefix} reverted with custom error '${custom}'`
  return `${prefix} reverted with an unrecognized custom error (return data: ${toHex(output)})`
}

function anvilMessage(failure: ExecutionFailure): string {
  const { kind, reason, output } = failure
  if (kind === 'failed') return `EVM error: ${reason}`
  const prefix = 'execution reverted'
  if (output.length === 0) return prefix
  const text = revertReason(output)
  if (text !== undefined) return `${prefix}: ${text}`
  const panic = panicCode(output)
  if (panic !== undefined) {
    return `${prefix}: panic: ${ANVIL_PANICS.get(panic) ?? 'unknown panic code'} (${hexCode(panic)})`
  }
  return `${prefix}: ${customError(failure) ?? `custom error ${toHex(output)}`}`
}

/** Words that ethers and viem recognise, for the refusals that they have error classes for. */
const REFUSAL_WORDS: ReadonlyMap<string, string> = new Map([
  [EMPTY_SENDER, 'insufficient funds for gas * price + value: the sender has no balance'],
  [INSUFFICIENT_FUNDS, 'insufficient funds for gas * price + value'],
  [NONCE_TOO_LOW, 'nonce too low'],
  [INTRINSIC_GAS_TOO_LOW, 'intrinsic gas too low'],
  [REPLACEMENT_UNDERPRICED, 'replacement transaction underpriced'],
])

const HARDHAT_REFUSALS: ReadonlyMap<string, string> = new Map([
  [EMPTY_SENDER, "Sender doesn't have enough funds to send tx"],
  [INSUFFICIENT_FUNDS, "Sender doesn't have enough funds to send tx"],
])

function refusedTransaction(message: string, dialect: 'hardhat' | 'anvil'): ErrorObject {
  const words = REFUSAL_WORDS.get(message) ?? message
  const own = dialect === 'hardhat' ? HARDHAT_REFUSALS.get(message) : undefined
  return { code: REFUSED[dialect], message: own === undefined ? words : `${own}: ${words}` }
}

function failedExecution(failure: ExecutionFailure, dialect: 'hardhat' | 'anvil'): ErrorObject {
  const data = toHex(failure.output)
  const { transactionHash: txHash } = failure
  if (dialect === 'anvil') {
    if (failure.reason === 'out of gas' && failure.allowance !== undefined) {
      return { code: REFUSED.anvil, message: `${ANVIL_OUT_OF_GAS}: ${failure.allowance}` }
    }
    const code = failure.kind === 'reverted' ? EXECUTION_REVERTED : REFUSED.anvil
    return { code, message: anvilMessage(failure), data, ...minedMembers(failure) }
  }
  // As `hardhat node` sends them: the text of the exception with its class.
  const message = `Error: ${hardhatMessage(failure)}`
  if (txHash === undefined) return { code: EXECUTION_REVERTED, message, data }
  return { code: MINED_FAILURE, message, data: { message, txHash, data } }
}

/** The error member for an error, in a dialect; those that the dialects do not name keep the chain's own form. */
export function errorObjectIn(dialect: Dialect, error: unknown): ErrorObject {
  if (dialect === 'rsk' || !(error instanceof NodeError)) return toErrorObject(error)
  if (error.failure !== undefined) return failedExecution(error.failure, dialect)
  if (error.kind === 'transaction-refused') return refusedTransaction(error.message, dialect)
  if (error.kind === 'insufficient-funds' && dialect === 'anvil') {
    return { code: REFUSED.anvil, message: ANVIL_INSUFFICIENT_FUNDS }
  }
  return toErrorObject(error)
}
