/** Messages to an upstream: their targets, and the outcomes, by how the client must react. */
import type { RemoteClock } from './clock.ts'

/** Longest answer that is read, bytes: six times the limit of the reference node. */
export const LONGEST_ANSWER = 64 * 1024 * 1024

/** The most calls of a batch, which is the limit of the reference node. */
export const BATCH_LIMIT = 50

/** The outcome of a request; `status` is the HTTP status if that made it fail. */
export type Outcome =
  /** The body is JSON. */
  | { readonly kind: 'answered'; readonly body: unknown; readonly retryAfterMs: number | undefined }
  /** Too many requests: to be retried after a time, milliseconds, where the server names one. */
  | {
      readonly kind: 'limited'
      readonly retryAfterMs: number | undefined
      readonly why: string
      readonly status?: number
    }
  /** The request or its answer is too large for the server: to be retried in parts. */
  | { readonly kind: 'too-large'; readonly why: string; readonly status?: number }
  /** To be retried: no connection, no answer in time, half an answer, an overloaded server. */
  | { readonly kind: 'failed'; readonly why: string; readonly status?: number }
  /** Not worth a retry: the server is not a node, or asks for a key. */
  | { readonly kind: 'refused'; readonly why: string; readonly status?: number }

/** A place to send requests to. */
export interface Target {
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly timeoutMs: number
}

/** The address without user, password, path and query, which may hold a key. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'the URL'
}

/** The text of a message, and the ids of the calls in it. */
export interface RequestBody {
  readonly text: string
  readonly ids: readonly number[]
}

/** Sends messages. Redirects are not followed, so that a key reaches only the address that it is for. */
export interface Sender {
  /** Sends a message and reads the whole answer within the target's time. Never throws; `signal` ends it early. */
  post(target: Target, body: RequestBody, clock: RemoteClock, signal: AbortSignal): Promise<Outcome>
}
