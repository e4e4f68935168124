/** The reply to a call or a batch, and how it is written: as text or in pieces, within the limits of its size. */
import { NodeError } from '../errors.ts'
import { textLimitExceeded } from '../evm/tracing/trace-budget.ts'
import type { Logger } from '../logger.ts'
import { errorObjectIn } from './dialects.ts'
import { type ErrorObject, responseTooLong } from './error-codes.ts'
import { explainedError } from './explained-error.ts'
import { jsonArray, jsonObject, RawJson, WrittenJson } from './raw-json.ts'
import type { RpcOptions } from './rpc-options.ts'

/** A request's id; `null` when it could not be read, JSON text when it is a number of more digits than JavaScript's have. */
export type Id = string | number | null | RawJson

/** One reply; key order is that of the reference node. */
export type Reply =
  | { readonly jsonrpc: string; readonly id: Id; readonly result: unknown }
  | { readonly jsonrpc: string; readonly id: Id; readonly error: ErrorObject }
/** The reply to a batch. */
export type Replies = readonly (Reply | Replies)[]

/** How errors are written. */
export type ErrorForm = Pick<RpcOptions, 'dialect' | 'stackTraces'>

const PLAIN: ErrorForm = { dialect: 'rsk', stackTraces: 'off' }

/** The reply that refuses a call, or a message as a whole. */
export function refusal(error: unknown, id: Id = null, jsonrpc = '2.0', form: ErrorForm = PLAIN): Reply {
  const { dialect, stackTraces } = form
  const plain = errorObjectIn(dialect, error)
  const stackTrace = error instanceof NodeError ? error.stackTrace : undefined
  return { jsonrpc, id, error: explainedError(plain, stackTrace, stackTraces) }
}

/** Bytes of what is JSON text already and has a limit of its own: raw results, and ids. */
export function rawLength(reply: Reply | Replies): number {
  if (!('jsonrpc' in reply)) return reply.reduce((sum, one) => sum + rawLength(one), 0)
  const idLength = reply.id instanceof RawJson ? reply.id.length : 0
  if (!('result' in reply) || !(reply.result instanceof RawJson)) return idLength
  return reply.result instanceof WrittenJson ? idLength : reply.result.length + idLength
}

/** Is any of it JSON text already? */
function holdsText(reply: Reply | Replies): boolean {
  if (!('jsonrpc' in reply)) return reply.some(holdsText)
  return reply.id instanceof RawJson || ('result' in reply && reply.result instanceof RawJson)
}

/** What a batch answers from where its raw results are more than `limit` bytes together. */
export function tooMuchRaw(reply: Reply | Replies, limit: number): Reply {
  return refusal(textLimitExceeded(limit), idOf(reply))
}

function idOf(reply: Reply | Replies): Id {
  return 'jsonrpc' in reply ? reply.id : null
}

/** A reply, or replies, as text in pieces: raw results stand in it as they are. */
function inPieces(reply: Reply | Replies): unknown {
  if (!('jsonrpc' in reply)) return jsonArray(reply.map(inPieces))
  return holdsText(reply) ? jsonObject(Object.entries(reply)) : reply
}

/** A short reply as text. */
export function textOf(reply: Reply): string {
  return holdsText(reply) ? String(inPieces(reply)) : JSON.stringify(reply)
}

/** JSON of replies without raw parts. Most are one result, whose members need no walk over an object. */
function plainText(reply: Reply | Replies): string {
  if (!('result' in reply)) return JSON.stringify(reply)
  const { jsonrpc, id, result } = reply
  const version = jsonrpc === '2.0' ? '"2.0"' : JSON.stringify(jsonrpc)
  const number = Number.isSafeInteger(id) ? id : JSON.stringify(id)
  return `{"jsonrpc":${version},"id":${number},"result":${JSON.stringify(result)}}`
}

/**
 * Writes replies as text, in pieces where they are long already. One of more than `limit` bytes of UTF-8, raw results
 * not counted, becomes its own refusal; 0 is no limit. Never throws.
 */
export function createReplyWriter(
  limit: number,
  logger: Logger,
): (reply: Reply | Replies) => string | RawJson {
  const tooLong = (reply: Reply | Replies) => textOf(refusal(responseTooLong(limit), idOf(reply)))

  return (reply) => {
    if (holdsText(reply)) {
      const pieces = inPieces(reply) as RawJson
      return limit > 0 && pieces.length - rawLength(reply) > limit ? tooLong(reply) : pieces
    }
    let text: string
    try {
      text = plainText(reply)
    } catch (error) {
      // A string beyond what V8 can hold; without a limit of ours the message must not name one.
      logger.error('a reply could not be written', { error })
      return limit > 0 ? tooLong(reply) : textOf(refusal(error, idOf(reply)))
    }
    return limit > 0 && text.length * 3 > limit && Buffer.byteLength(text) > limit ? tooLong(reply) : text
  }
}
