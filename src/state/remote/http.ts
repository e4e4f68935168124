/** One HTTP request with JSON-RPC in it, to one URL: the outcomes, by what to do about each. */
import { messageOf } from '../../store/identity.ts'
import type { RemoteClock } from './settings.ts'

/** Longest answer that is read, bytes: six times the limit of the reference node. */
export const LONGEST_ANSWER = 64 * 1024 * 1024

/** What a request came to; `status` is that of an answer that failed by it. */
export type HttpOutcome =
  /** The body is JSON. */
  | { readonly kind: 'answered'; readonly body: unknown; readonly retryAfterMs: number | undefined }
  /** Too many requests: to be repeated after some time, milliseconds, where the server names one. */
  | {
      readonly kind: 'limited'
      readonly retryAfterMs: number | undefined
      readonly why: string
      readonly status?: number
    }
  /** The request or its answer is too large for the server: to be repeated in parts. */
  | { readonly kind: 'too-large'; readonly why: string; readonly status?: number }
  /** To be repeated: no connection, no answer in time, half an answer, an overloaded server. */
  | { readonly kind: 'failed'; readonly why: string; readonly status?: number }
  /** Not worth repeating: what answers is no node, or one that asks for a key. */
  | { readonly kind: 'refused'; readonly why: string; readonly status?: number }

/** A place to send requests to. */
export interface HttpTarget {
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly timeoutMs: number
}

/** The address without user, password, path and query, which may hold a key. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'the URL'
}

/** Milliseconds that a `Retry-After` header names: seconds, or a date (RFC 9110, 10.2.3). */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : seconds * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

async function readText(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks).toString('utf8')
    size += value.length
    if (size > LONGEST_ANSWER) {
      await reader.cancel()
      return undefined
    }
    chunks.push(value)
  }
}

function parse(text: string): { readonly body: unknown } | undefined {
  try {
    return { body: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isReply(body: unknown): boolean {
  return (
    Array.isArray(body) ||
    (typeof body === 'object' && body !== null && ('result' in body || 'error' in body))
  )
}

function judge(response: Response, text: string, now: number): HttpOutcome {
  const { status } = response
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), now)
  const parsed = parse(text)
  if (status === 429) {
    return { kind: 'limited', retryAfterMs, why: 'too many requests (HTTP 429)', status }
  }
  // Many nodes send the errors of JSON-RPC with a status of 4xx or 5xx.
  if (parsed !== undefined && (response.ok || isReply(parsed.body))) {
    return { kind: 'answered', body: parsed.body, retryAfterMs }
  }
  if (status === 413) return { kind: 'too-large', why: 'the request is too large (HTTP 413)', status }
  if (status === 503 && retryAfterMs !== undefined) {
    return { kind: 'limited', retryAfterMs, why: 'the server is unavailable (HTTP 503)', status }
  }
  if (status === 401 || status === 403) {
    return {
      kind: 'refused',
      why: `it refuses access (HTTP ${status}); check the key in the URL, or send one with --fork-header`,
      status,
    }
  }
  if (status >= 500 || status === 408 || status === 425)
    return { kind: 'failed', why: `HTTP ${status}`, status }
  if (!response.ok) return { kind: 'refused', why: `it is no JSON-RPC node (HTTP ${status})`, status }
  if (/^\s*</.test(text))
    return { kind: 'refused', why: 'it is no JSON-RPC node (it answers with a web page)' }
  return { kind: 'failed', why: text === '' ? 'the answer is empty' : 'the answer is not JSON, or cut off' }
}

/** The error of the connection below that of fetch. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error) {
    const { code } = cause as NodeJS.ErrnoException
    return code === undefined ? cause.message : `${code}${cause.message === '' ? '' : `, ${cause.message}`}`
  }
  return messageOf(error)
}

/** Sends a body and reads the whole answer within the target's time. Never throws; `signal` ends it early. */
export async function post(
  { url, headers, timeoutMs }: HttpTarget,
  body: string,
  clock: RemoteClock,
  signal: AbortSignal,
): Promise<HttpOutcome> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal.addEventListener('abort', abort, { once: true })
  let isLate = false
  const cancel = clock.deadline(timeoutMs, () => {
    isLate = true
    controller.abort()
  })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: [
        ['Content-Type', 'application/json'],
        ...headers.map(([name, value]): [string, string] => [name, value]),
      ],
      body,
      redirect: 'manual',
      signal: controller.signal,
    })
    const text = await readText(response)
    if (text === undefined) return { kind: 'too-large', why: `the answer exceeds ${LONGEST_ANSWER} bytes` }
    return judge(response, text, clock.now())
  } catch (error) {
    if (isLate) return { kind: 'failed', why: `no answer within ${timeoutMs} ms` }
    return { kind: 'failed', why: reasonOf(error) }
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
  }
}
