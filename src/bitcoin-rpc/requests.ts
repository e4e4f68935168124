/** Answers the requests of a port of a Bitcoin node: Bitcoin Core's JSON-RPC, and the REST interfaces. */
import { z } from 'zod'
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { NodeError } from '../errors.ts'
import { writeJson } from './amount.ts'
import { BitcoinDispatcher } from './dispatcher.ts'
import { answerRest } from './rest/rest.ts'

/** A request without its transport. */
export interface BitcoinRequest {
  readonly verb: string
  /** Without the query. */
  readonly path: string
  readonly body: string
}

/** What is sent back. */
export interface BitcoinReply {
  /** Of HTTP. */
  readonly status: number
  /** Media type of the body. */
  readonly type: string
  readonly body: string
}

const Reply = z.object({ status: z.int(), type: z.string(), body: z.string() })

/** The reply that another node has sent; `undefined` for null. Throws a ZodError for anything else. */
export function parseReply(value: unknown): BitcoinReply | undefined {
  return value === null ? undefined : Reply.parse(value)
}

/** What answers. */
export interface RequestsParts {
  readonly bitcoin: Bitcoin
  /** Told of errors that are bugs; their details are not sent. */
  readonly report: (method: string, error: unknown) => void
  /** Resolves when all changes so far are on disk. Throws `storage`. */
  settled(): Promise<void>
}

/** `/wallet/name`. */
const WALLET_PATH = /^\/wallet\/([^/?]*)$/

/** The wallet that a path of the JSON-RPC names, if any; `undefined` for another path. */
export function walletIn(path: string): { readonly wallet: string | undefined } | undefined {
  if (path === '/') return { wallet: undefined }
  const name = WALLET_PATH.exec(path)?.[1]
  if (name === undefined) return undefined
  try {
    return { wallet: decodeURIComponent(name) }
  } catch {
    return undefined
  }
}

/** The answers about one node. */
export class BitcoinRequests {
  readonly #parts: RequestsParts
  readonly #dispatcher: BitcoinDispatcher

  constructor(parts: RequestsParts) {
    this.#parts = parts
    this.#dispatcher = new BitcoinDispatcher(parts)
  }

  /**
   * The reply, once what the request changed is on disk; `undefined` for a path of no interface. Throws `overloaded`, with
   * nothing changed, where another node of the cluster makes the changes.
   */
  async answer(
    { verb, path, body }: BitcoinRequest,
    isGone = () => false,
  ): Promise<BitcoinReply | undefined> {
    const target = walletIn(path)
    if (target === undefined) return this.#answerRest({ verb, path, body })
    const answer = await this.#dispatcher.dispatch(body, { ...target, isGone })
    return { ...answer, type: 'application/json' }
  }

  async #answerRest({ verb, path, body }: BitcoinRequest): Promise<BitcoinReply | undefined> {
    const { bitcoin, settled } = this.#parts
    const { state } = bitcoin.chain
    const reply = answerRest(bitcoin, verb, path, body)
    try {
      if (bitcoin.chain.state !== state) await settled()
      return reply
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return { status: 503, type: 'application/json', body: writeJson({ error: error.message }) }
    }
  }
}
