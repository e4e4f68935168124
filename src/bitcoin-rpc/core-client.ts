/** A real Bitcoin Core behind its JSON-RPC, as others use a Bitcoin node. */
import { z } from 'zod'
import { decodeBlock } from '../bitcoin/chain/block.ts'
import { decodeHeader, HEADER_BYTES } from '../bitcoin/chain/header.ts'
import { digitsOf, fromDigits } from '../bitcoin/displayed-hash.ts'
import type { BitcoinNode, BlockSummary, FoundTransaction, WholeBlock } from '../bitcoin/node-interface.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../bitcoin/transaction.ts'
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
const POLL_MS = 1000

const Digits = z.string().refine((text) => text.length % 2 === 0 && isHexDigits(text), 'not hex digits')
const Bytes = Digits.transform((text) => fromDigits(text))
const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const Reply = z.object({
  result: z.unknown(),
  error: z.object({ code: z.number(), message: z.string() }).nullable().optional(),
})
const HeaderView = z.object({ hash: Hash, height: z.number().int().nonnegative() })
const RawView = z.object({
  hex: Bytes,
  blockhash: Hash.optional(),
  confirmations: z.number().int().default(0),
})

/** Not there: the codes by which Bitcoin Core says so. */
const ABSENT: ReadonlySet<number> = new Set([CODE.ADDRESS_OR_KEY, CODE.PARAMETER])

/** The answer of the node is an error. */
class CoreError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

function targetOf({ url, timeoutMs = TIMEOUT_MS }: CoreOptions): Target {
  const address = new URL(url)
  const credentials = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`
  address.username = ''
  address.password = ''
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return { url: address.href, headers: [['Authorization', authorization]], timeoutMs }
}

/** The client. It polls for new blocks while something listens. */
export class CoreClient implements BitcoinNode {
  readonly #target: Target
  readonly #sender: Sender
  readonly #deps: RemoteDeps
  readonly #pollMs: number
  readonly #closing = new AbortController()
  #ids = 0

  /** Connects to nothing yet. Throws a TypeError for a malformed URL. */
  constructor(options: CoreOptions) {
    this.#target = targetOf(options)
    this.#deps = options.deps ?? systemDeps(() => {})
    this.#sender = createHttpSender(this.#closing.signal, this.#deps.resolve)
    this.#pollMs = options.pollMs ?? POLL_MS
  }

  async bestBlock(): Promise<BlockSummary> {
    const hash = await this.#call('getbestblockhash', [], Hash)
    const best = await this.header(hash)
    if (best === undefined) throw this.#failure('it does not know its best block')
    return best
  }

  hashAt(height: number): Promise<string | undefined> {
    return this.#find('getblockhash', [height], Hash)
  }

  async header(hash: string): Promise<BlockSummary | undefined> {
    const view = await this.#find('getblockheader', [hash, true], HeaderView)
    const bytes = view && (await this.#find('getblockheader', [hash, false], Bytes))
    if (view === undefined || bytes === undefined) return undefined
    return { ...view, header: this.#read(() => decodeHeader(bytes)) }
  }

  async block(hash: string): Promise<WholeBlock | undefined> {
    const view = await this.#find('getblockheader', [hash, true], HeaderView)
    const bytes = view && (await this.#find('getblock', [hash, 0], Bytes))
    if (view === undefined || bytes === undefined) return undefined
    return { ...view, ...this.#read(() => decodeBlock(bytes)) }
  }

  async transaction(id: string): Promise<FoundTransaction | undefined> {
    const view = await this.#find('getrawtransaction', [id, true], RawView)
    if (view === undefined) return undefined
    const block = view.blockhash === undefined ? undefined : await this.header(view.blockhash)
    const transaction = this.#read(() => decodeTransaction(view.hex))
    return { transaction, block, confirmations: block === undefined ? 0 : view.confirmations }
  }

  async partialTree(ids: readonly string[], blockHash: string): Promise<Uint8Array | undefined> {
    const proof = await this.#find('gettxoutproof', [ids, blockHash], Bytes)
    return proof?.slice(HEADER_BYTES)
  }

  mempool(): Promise<readonly string[]> {
    return this.#call('getrawmempool', [], z.array(Hash))
  }

  async broadcast(transaction: Transaction): Promise<string> {
    const hex = digitsOf(encodeTransaction(transaction))
    try {
      return await this.#request('sendrawtransaction', [hex], Hash)
    } catch (error) {
      if (error instanceof CoreError) throw new NodeError('transaction-refused', error.message)
      throw error
    }
  }

  onBlock(listener: (best: BlockSummary) => void): () => void {
    const stopped = new AbortController()
    const stop = () => stopped.abort()
    this.#closing.signal.addEventListener('abort', stop, { once: true })
    void this.#poll(listener, stopped.signal)
    return stop
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  /** Looks for a new best block until it is stopped. A failure is a look that found nothing. */
  async #poll(listener: (best: BlockSummary) => void, signal: AbortSignal): Promise<void> {
    let last: string | undefined
    while (!signal.aborted) {
      const best = await this.bestBlock().catch(() => undefined)
      if (signal.aborted) return
      if (best !== undefined && last !== undefined && best.hash !== last) listener(best)
      last = best?.hash ?? last
      await this.#deps.clock.wait(this.#pollMs, signal).catch(() => {})
    }
  }

  /** The result of a call; `undefined` when the node does not know what it is about. */
  async #find<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T | undefined> {
    try {
      return await this.#request(method, params, schema)
    } catch (error) {
      if (error instanceof CoreError && ABSENT.has(error.code)) return undefined
      throw error instanceof CoreError ? this.#failure(error.message) : error
    }
  }

  async #call<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T> {
    try {
      return await this.#request(method, params, schema)
    } catch (error) {
      throw error instanceof CoreError ? this.#failure(error.message) : error
    }
  }

  async #request<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T> {
    const id = ++this.#ids
    const text = JSON.stringify({ jsonrpc: '1.0', id, method, params })
    const { clock } = this.#deps
    const outcome = await this.#sender.post(this.#target, { text, ids: [id] }, clock, this.#closing.signal)
    const reply = Reply.safeParse(this.#bodyOf(outcome))
    if (!reply.success) throw this.#failure('it does not answer as Bitcoin Core does')
    const { error, result } = reply.data
    if (error) throw new CoreError(error.code, error.message)
    const parsed = schema.safeParse(result)
    if (parsed.success) return parsed.data
    throw this.#failure(`${method} has an unexpected result: ${parsed.error.issues[0]?.message ?? ''}`)
  }

  #bodyOf(outcome: Outcome): unknown {
    if (outcome.kind === 'answered') return outcome.body
    const isRefused = outcome.status === 401 || outcome.status === 403
    throw this.#failure(isRefused ? 'it refuses the user and password in the URL' : outcome.why)
  }

  #read<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#failure(messageOf(error))
    }
  }

  #failure(why: string): NodeError {
    return new NodeError('upstream', `The Bitcoin node at ${originOf(this.#target.url)} failed: ${why}`)
  }
}
