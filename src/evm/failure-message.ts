/** The error messages of failed messages (docs/internals/rpc-reference.md#74-calls-and-estimates). */
import { panicMessage } from '../abi/panic.ts'
import { toHex } from '../encoding/hex.ts'
import { type ExecutionFailure, NodeError } from '../errors.ts'
import type { MessageResult } from './message.ts'

/** How a top-level message failed. */
export type Failure = ExecutionFailure

/** Selector of `Error(string)`. */
const ERROR_STRING = '0x08c379a0'

/** The reason of a revert without a payload to explain it. */
export const REVERTED = 'transaction reverted'

const PREFIX = 'VM Exception while processing transaction: '

/** What users read in place of a failure's reason. */
const PLAIN_MESSAGES: Readonly<Record<string, string>> = {
  'invalid JUMP': 'invalid jump',
  'static state change': 'state change inside a static call',
  'create collision': 'contract address is taken',
  'invalid bytecode deployed': 'code to deploy begins with 0xef',
  'internal error': 'precompiled contract failed',
}

/** The reason text in a payload of `Error(string)`; `undefined` when it is none. */
export function revertReason(payload: Uint8Array): string | undefined {
  if (payload.length < 68 || toHex(payload.subarray(0, 4)) !== ERROR_STRING) return undefined
  const words = Buffer.from(payload.buffer, payload.byteOffset + 4, payload.length - 4)
  if (BigInt(toHex(words.subarray(0, 32))) !== 32n) return undefined
  const length = BigInt(toHex(words.subarray(32, 64)))
  if (length > BigInt(words.length - 64)) return undefined
  return words.subarray(64, 64 + Number(length)).toString('utf8')
}

/** As the reference node; it has no text for a panic, whose meaning is appended here. */
function revertMessage(payload: Uint8Array): string {
  const reason = revertReason(payload)
  if (reason !== undefined) return `revert ${reason}`
  const panic = panicMessage(payload)
  return panic === undefined ? REVERTED : `${REVERTED}: ${panic}`
}

/** How a result failed; `undefined` when it succeeded. */
export function failureOf(result: Pick<MessageResult, 'status' | 'failure' | 'output'>): Failure | undefined {
  if (result.status === 'succeeded') return undefined
  if (result.status === 'failed') {
    // The library's interpreter appends the place: "invalid JUMP at …".
    const message = (result.failure ?? 'unknown failure').replace(/^(invalid JUMP) at .*/, '$1')
    return { kind: 'failed', reason: PLAIN_MESSAGES[message] ?? message, output: result.output }
  }
  return { kind: 'reverted', reason: revertMessage(result.output), output: result.output }
}

/** The error for a client: `reverted`, with the whole payload as data. */
export function failureError(failure: Failure): NodeError {
  return new NodeError('reverted', PREFIX + failure.reason, toHex(failure.output), failure)
}
