/** Calls of a Bitcoin Core's JSON-RPC. */
import { z } from 'zod'
import { fromDigits } from '../bitcoin/displayed-hash.ts'
import { isHexDigits } from '../encoding/hex.ts'
import { messageOf, NodeError } from '../errors.ts'
import { type RemoteDeps, systemDeps } from '../upstream/environment.ts'
import { createHttpSender } from '../upstream/http.ts'
import { type Outcome, originOf, type Sender, type Target } from '../upstream/sender.ts'
import { CODE } from './rpc-failure.ts'

/** How a Bitcoin Core is reached. */
export interface CoreOptions {
  /** `http://user:password@host:port`, or with `/wallet/<name>` behind it. */
  readonly url: string
  /** Longest wait for an answer, milliseconds. */
  readonly timeoutMs?: number
  /** Time between looks for a new best block, milliseconds. */
  readonly pollMs?: number
  /** Clock and name resolution, which tests replace. */
  readonly deps?: RemoteDeps
}

const TIMEOUT_MS = 30_000

const Digits = z.string().refine((text) => text.length % 2 === 0 && isHexDigits(text), 'not hex digits')
/** Bytes, in hex digits. */
export const Bytes = Digits.transform((text) => fromDigits(text))
/** A hash, as Bitcoin's tools write it. */
export const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const Reply = z.object({
  result: z.unknown(),
  error: z.object({ code: z.number(), message: z.string() }).nullable().optional(),
})

/** Not there: the codes by which Bitcoin Core says so. */
const ABSENT: ReadonlySet<number> = new Set([CODE.ADDRESS_OR_KEY, CODE.PARAMETER])

/** The answer of the node is an error. */
export class CoreError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

function targetOf({ url, timeoutMs = TIMEOUT_MS }: CoreOptions): Target & { readonly secrets: string[] } {
  const address = new URL(url)
  const password = decodeURIComponent(address.password)
  const credentials = Buffer.from(`${decodeURIComponent(address.username)}:${password}`).toString('base64')
  address.username = ''
  address.password = ''
  const headers = [['Authorization', `Basic ${credentials}`]] as const
  return { url: address.href, headers, timeoutMs, secrets: [credentials, password].filter(Boolean) }
}

/** The connection. Every failure is a `NodeError` `upstream`; none has the user and password. */
export class CoreConnection {
  readonly #target: Target
  /** What no error may hold, even where the node sends it back. */
  readonly #secrets: readonly string[]
  readonly #sender: Sender
  readonly #closing = new AbortController()
  readonly deps: RemoteDeps
  #ids = 0

  /** Connects to nothing yet. Throws a TypeError for a malformed URL. */
  constructor(options: CoreOptions) {
    const { secrets, ...target } = targetOf(options)
    this.#target = target
    this.#secrets = secrets
    this.deps = options.deps ?? systemDeps(() => {})
    this.#sender = createHttpSender(this.#closing.signal, this.deps.resolve)
  }

  /** Aborted when the connection is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** The address without user and password. */
  get origin(): string {
    return originOf(this.#target.url)
  }

  close(): void {
    this.#closing.abort()
  }

  /** The result of a call; `undefined` when the node does not know what it is about. */
  async find<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T | undefined> {
    try {
      return await this.request(method, params, schema)
    } catch (error) {
      if (error instanceof CoreError && ABSENT.has(error.code)) return undefined
      throw error instanceof CoreError ? this.failure(error.message) : error
    }
  }

  /** The result of a call. `timeoutMs`: in place of the connection's. */
  async call<T>(
    method: string,
    params: readonly unknown[],
    schema: z.ZodType<T>,
    timeoutMs?: number,
  ): Promise<T> {
    try {
      return await this.request(method, params, schema, timeoutMs)
    } catch (error) {
      throw error instanceof CoreError ? this.failure(error.message) : error
    }
  }

  /** The same; throws a `CoreError` for an error of the node. */
  async request<T>(
    method: string,
    params: readonly unknown[],
    schema: z.ZodType<T>,
    timeoutMs = this.#target.timeoutMs,
  ): Promise<T> {
    const id = ++this.#ids
    const text = JSON.stringify({ jsonrpc: '1.0', id, method, params })
    const target = { ...this.#target, timeoutMs }
    const outcome = await this.#sender.post(target, { text, ids: [id] }, this.deps.clock, this.signal)
    const reply = Reply.safeParse(this.#bodyOf(outcome))
    if (!reply.success) throw this.failure('it does not answer as Bitcoin Core does')
    const { error, result } = reply.data
    if (error) throw new CoreError(error.code, this.#withoutSecrets(error.message))
    const parsed = schema.safeParse(result)
    if (parsed.success) return parsed.data
    throw this.failure(`${method} has an unexpected result: ${parsed.error.issues[0]?.message ?? ''}`)
  }

  /** Reads what the node has sent; what that throws becomes a failure of the node. */
  read<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.failure(messageOf(error))
    }
  }

  /** An error that names the node. */
  failure(why: string): NodeError {
    return new NodeError('upstream', `The Bitcoin node at ${this.origin} failed: ${why}`)
  }

  #withoutSecrets(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
  }

  #bodyOf(outcome: Outcome): unknown {
    if (outcome.kind === 'answered') return outcome.body
    const isRefused = outcome.status === 401 || outcome.status === 403
    throw this.failure(isRefused ? 'it refuses the user and password in the URL' : outcome.why)
  }
}
