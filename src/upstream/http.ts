/** One HTTP request with JSON-RPC in it, to one URL: the outcomes, by what to do about each. */

import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { messageOf } from '../errors.ts'
import type { RemoteClock } from './environment.ts'
import { ForbiddenAddress, forbiddenHost, guardedLookup, type Resolver } from './forbidden-address.ts'

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
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : seconds * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** The body, unpacked; `undefined` where it is too long. */
async function readText(response: IncomingMessage): Promise<string | undefined> {
  const isPacked = response.headers['content-encoding'] === 'gzip'
  const body = isPacked ? pipeline(response, createGunzip(), () => {}) : response
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop destroys the stream, and with it the connection.
    if (size > LONGEST_ANSWER) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
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

function judge({ statusCode: status = 0, headers }: IncomingMessage, text: string, now: number): HttpOutcome {
  const isOk = status >= 200 && status < 300
  const retryAfterMs = retryAfter(headers['retry-after'], now)
  const parsed = parse(text)
  if (status === 429) {
    return { kind: 'limited', retryAfterMs, why: 'too many requests (HTTP 429)', status }
  }
  // Many nodes send the errors of JSON-RPC with a status of 4xx or 5xx.
  if (parsed !== undefined && (isOk || isReply(parsed.body))) {
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
  if (!isOk) return { kind: 'refused', why: `it is no JSON-RPC node (HTTP ${status})`, status }
  if (/^\s*</.test(text))
    return { kind: 'refused', why: 'it is no JSON-RPC node (it answers with a web page)' }
  return { kind: 'failed', why: text === '' ? 'the answer is empty' : 'the answer is not JSON, or cut off' }
}

/** Why a connection failed. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  const message = messageOf(error)
  return code === undefined || message === '' ? (code ?? message) : `${code}, ${message}`
}

/** Sends a request and resolves with the head of its answer. */
function exchange(
  { url, headers }: HttpTarget,
  body: string,
  options: RequestOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const address = new URL(url)
    const start = address.protocol === 'https:' ? httpsRequest : httpRequest
    const request = start(address, { ...options, method: 'POST' }, resolve)
    request.on('error', reject)
    request.setHeader('Content-Type', 'application/json')
    request.setHeader('Accept-Encoding', 'gzip')
    for (const [name, value] of headers) request.appendHeader(name, value)
    request.end(body)
  })
}

/** Sends bodies with JSON-RPC in them. Redirects are not followed: a key goes to the address that it is for, and no further. */
export interface HttpSender {
  /** Sends a body and reads the whole answer within the target's time. Never throws; `signal` ends it early. */
  post(target: HttpTarget, body: string, clock: RemoteClock, signal: AbortSignal): Promise<HttpOutcome>
}

/** Connects to nothing yet; idle connections are closed when `closing` is aborted. */
export function createHttpSender(closing: AbortSignal, resolve: Resolver): HttpSender {
  const lookup = guardedLookup(resolve)
  const agents = {
    'http:': new HttpAgent({ keepAlive: true }),
    'https:': new HttpsAgent({ keepAlive: true }),
  }
  closing.addEventListener('abort', () => {
    for (const agent of Object.values(agents)) agent.destroy()
  })

  return {
    async post(target, body, clock, signal) {
      const { url, timeoutMs } = target
      const forbidden = forbiddenHost(url)
      if (forbidden !== undefined) return { kind: 'refused', why: forbidden }
      const controller = new AbortController()
      const abort = () => controller.abort()
      signal.addEventListener('abort', abort, { once: true })
      let isLate = false
      const cancel = clock.deadline(timeoutMs, () => {
        isLate = true
        controller.abort()
      })
      const agent = new URL(url).protocol === 'https:' ? agents['https:'] : agents['http:']
      try {
        const response = await exchange(target, body, { agent, lookup, signal: controller.signal })
        const text = await readText(response)
        if (text === undefined)
          return { kind: 'too-large', why: `the answer exceeds ${LONGEST_ANSWER} bytes` }
        return judge(response, text, clock.now())
      } catch (error) {
        if (isLate) return { kind: 'failed', why: `no answer within ${timeoutMs} ms` }
        if (error instanceof ForbiddenAddress) return { kind: 'refused', why: error.message }
        return { kind: 'failed', why: reasonOf(error) }
      } finally {
        cancel()
        signal.removeEventListener('abort', abort)
      }
    },
  }
}
