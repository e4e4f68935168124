/** Paths of REST interfaces, and what answers them. */
import type { Bitcoin } from '../../bitcoin/bitcoin.ts'

/** An answer: a value to be sent as JSON, or a text. */
export interface RestAnswer {
  readonly status: number
  readonly value?: unknown
  readonly text?: string
}

/** A path: the groups of its pattern are the handler's parts. */
export interface Route {
  readonly verb: 'GET' | 'POST'
  readonly pattern: RegExp
  /** `undefined` when there is no such thing. Throws an `RpcFailure` for bad input, which is answered with status 400. */
  answer(bitcoin: Bitcoin, parts: readonly string[], body: string): RestAnswer | undefined
}

/** A value as JSON. */
export function json(value: unknown): RestAnswer {
  return { status: 200, value }
}

/** A text. */
export function plain(text: string): RestAnswer {
  return { status: 200, text }
}
