/** The words for a message that did not succeed (docs/rpc-reference.md#74-calls-and-estimates). */
import { panicMessage } from '../abi/panic.ts'
import { toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { MessageResult } from './message.ts'

/** How a top-level message failed. `reason` is in the chain's words; `output` is the revert payload (empty otherwise). */
export interface Failure {
  readonly kind: 'reverted' | 'failed'
  readonly reason: string
  readonly output: Uint8Array
}

/** Selector of `Error(string)`. */
const ERROR_STRING = '0x08c379a0'

/** What is said of a revert whose payload says nothing. */
export const REVERTED = 'transaction reverted'

const PREFIX = 'VM Exception while processing transaction: '

/** Where the library's words are not for a reader. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  'invalid JUMP': 'invalid jump',
  'static state change': 'state change inside a static call',
  'create collision': 'contract address is taken',
  'invalid bytecode deployed': 'code to deploy begins with 0xef',
  'internal error': 'native contract failed',
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

/** The node's words for a revert; it has none for a panic, whose meaning is added behind. */
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
    // The library's loop adds the place: "invalid JUMP at …".
    const words = (result.failure ?? 'unknown failure').replace(/^(invalid JUMP) at .*/, '$1')
    return { kind: 'failed', reason: PLAIN_WORDS[words] ?? words, output: result.output }
  }
  return { kind: 'reverted', reason: revertMessage(result.output), output: result.output }
}

/** The error for a client: `reverted`, with the whole payload as data. */
export function failureError(failure: Failure): NodeError {
  return new NodeError('reverted', PREFIX + failure.reason, toHex(failure.output))
}
