/** The error that answers for a transaction which was mined on the spot and failed (rpc-methods 7.5). */
import { toNumber } from '../encoding/bytes.ts'
import { toHex } from '../encoding/hex.ts'
import type { Failure } from '../engine/engine.ts'
import { NodeError } from '../errors.ts'

/** Selector of `Error(string)`. */
const ERROR_STRING = '0x08c379a0'

/** The text in a payload of `Error(string)`; `undefined` when it is anything else. */
function reasonIn(payload: Uint8Array): string | undefined {
  if (payload.length < 68 || toHex(payload.subarray(0, 4)) !== ERROR_STRING) return undefined
  const body = payload.subarray(4)
  const offset = wordAt(body, 0)
  const length = offset === undefined ? undefined : wordAt(body, offset)
  if (offset === undefined || length === undefined || offset + 32 + length > body.length) return undefined
  return new TextDecoder().decode(body.subarray(offset + 32, offset + 32 + length))
}

/** A word that counts bytes; `undefined` beyond the end or beyond 32 bits. */
function wordAt(bytes: Uint8Array, at: number): number | undefined {
  const word = bytes.subarray(at, at + 32)
  if (word.length < 32 || word.subarray(0, 28).some((byte) => byte !== 0)) return undefined
  return toNumber(word.subarray(28))
}

/** A revert tells its reason and carries its payload; any other failure has the same words and nothing to carry. */
export function failureError(failure: Failure): NodeError {
  const prefix = 'VM Exception while processing transaction:'
  if (failure.kind === 'failed') return new NodeError('reverted', `${prefix} transaction reverted`)
  const reason = reasonIn(failure.output)
  const words = reason === undefined ? 'transaction reverted' : `revert ${reason}`
  return new NodeError('reverted', `${prefix} ${words}`, toHex(failure.output))
}
