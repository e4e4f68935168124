/** Answers JSON-RPC as Bitcoin Core does: single calls and batches, with parameters by place or by name. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { isTooComplex } from '../encoding/json-complexity.ts'
import { NodeError } from '../errors.ts'
import { writeJson } from './amount.ts'
import type { Context, Method } from './method.ts'
import { ACCOUNT_METHODS } from './methods/accounts.ts'
import { ADDRESS_METHODS } from './methods/addresses.ts'
import { BLOCKCHAIN_METHODS } from './methods/blockchain.ts'
import { CONTROL_METHODS } from './methods/control.ts'
import { GENERATING_METHODS } from './methods/generating.ts'
import { MEMPOOL_METHODS } from './methods/mempool.ts'
import { PAYMENT_METHODS } from './methods/payments.ts'
import { RAW_TRANSACTION_METHODS } from './methods/raw-transactions.ts'
import { SIGNING_METHODS } from './methods/signing.ts'
import { WALLET_FILE_METHODS } from './methods/wallets.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

/** All methods by name. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  [
    BLOCKCHAIN_METHODS,
    MEMPOOL_METHODS,
    RAW_TRANSACTION_METHODS,
    GENERATING_METHODS,
    SIGNING_METHODS,
    WALLET_FILE_METHODS,
    ADDRESS_METHODS,
    ACCOUNT_METHODS,
    PAYMENT_METHODS,
    CONTROL_METHODS,
  ]
    .flat()
    .map((method) => [method.name, method]),
)

/** Most levels of lists and objects, as in Bitcoin Core: reading a million takes seconds. */
const MAX_DEPTH = 512
/** Most calls of a batch. */
const MAX_BATCH = 1000

const Call = z.object({
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]).nullish(),
})

/** An answer and the HTTP status that goes with it. */
export interface Answer {
  readonly status: number
  readonly body: string
}

interface Reply {
  readonly result: unknown
  readonly error: { readonly code: number; readonly message: string } | null
  readonly id: string | number | null
}

const STATUS: Readonly<Record<number, number>> = {
  [CODE.INVALID_REQUEST]: 400,
  [CODE.METHOD_NOT_FOUND]: 404,
}

const failed = (code: number, message: string, id: Reply['id'] = null): Reply => ({
  result: null,
  error: { code, message },
  id,
})

function answer(reply: Reply): Answer {
  const status = reply.error === null ? 200 : (STATUS[reply.error.code] ?? 500)
  return { status, body: `${writeJson(reply)}\n` }
}

function idIn(call: unknown): Reply['id'] {
  const id = typeof call === 'object' && call !== null && 'id' in call ? call.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** What a dispatcher is made of. */
export interface DispatcherParts {
  readonly bitcoin: Bitcoin
  /** Told of errors that are bugs; their details are not sent. */
  readonly report: (method: string, error: unknown) => void
  /** Resolves when all changes so far are on disk. Throws `storage`. */
  settled(): Promise<void>
}

/** Who sends a message. */
export interface Caller {
  /** Name of the wallet in the path, if any. */
  readonly wallet: string | undefined
  /** Has it gone away, or is the server closing? */
  isGone(): boolean
}

/** Answers calls about one node. */
export class BitcoinDispatcher {
  readonly #parts: DispatcherParts
  readonly #startedAt: number

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#startedAt = parts.bitcoin.clock()
  }

  /**
   * The answer to a message, once what it changed is on disk. Calls end early once no caller waits for it. Rejects only with
   * `overloaded`, before the first change, where another node of the cluster makes the changes.
   */
  async dispatch(message: string, caller: Caller): Promise<Answer> {
    if (isTooComplex(message, MAX_DEPTH)) return answer(failed(CODE.PARSE, 'Parse error'))
    let parsed: unknown
    try {
      parsed = JSON.parse(message)
    } catch {
      return answer(failed(CODE.PARSE, 'Parse error'))
    }
    if (!Array.isArray(parsed)) return answer(await this.#reply(parsed, caller))
    if (parsed.length > MAX_BATCH)
      return answer(failed(CODE.INVALID_REQUEST, `A batch may have at most ${MAX_BATCH} calls`))
    const replies: string[] = []
    for (const call of parsed) {
      if (this.#isOver(caller)) break
      replies.push(writeJson(await this.#reply(call, caller)))
      // A thousand slow calls are no reason to let others wait.
      await nextTurn()
    }
    return { status: 200, body: `[${replies.join(',')}]\n` }
  }

  async #reply(message: unknown, caller: Caller): Promise<Reply> {
    const call = Call.safeParse(message)
    if (!call.success) return failed(CODE.INVALID_REQUEST, 'Invalid Request object', idIn(message))
    const { method: name, params, id = null } = call.data
    const method = METHODS.get(name)
    if (method === undefined) return failed(CODE.METHOD_NOT_FOUND, 'Method not found', id)
    try {
      return { result: (await this.#call(method, params ?? [], caller)) ?? null, error: null, id }
    } catch (error) {
      if (error instanceof RpcFailure) return failed(error.code, error.message, id)
      if (error instanceof NodeError && error.kind === 'overloaded') throw error
      if (error instanceof NodeError) return failed(CODE.DATABASE, error.message, id)
      this.#parts.report(name, error)
      return failed(CODE.INTERNAL, 'Internal error', id)
    }
  }

  /** Calls a method; what it changed is on disk then. */
  async #call(method: Method, params: Parameters<Method['call']>[1], caller: Caller): Promise<unknown> {
    const { bitcoin, settled } = this.#parts
    const before = bitcoin.snapshot()
    const result = await method.call(this.#context(caller), params)
    const after = bitcoin.snapshot()
    if (before.chain !== after.chain || before.wallets !== after.wallets) await settled()
    return result
  }

  #isOver({ isGone }: Caller): boolean {
    return isGone()
  }

  #context(caller: Caller): Context {
    const { bitcoin } = this.#parts
    const isOver = () => this.#isOver(caller)
    return { bitcoin, wallet: caller.wallet, methods: METHODS, startedAt: this.#startedAt, isOver }
  }
}
