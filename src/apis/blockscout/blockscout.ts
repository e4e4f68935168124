/** Blockscout's API v2: the part that wallets call, and verification (https://github.com/blockscout/blockscout-api-v2-swagger). */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import { type ApiReply, type ApiRequest, hashIn, read, repliedOr } from '../request.ts'
import type { Verifier } from '../verifier.ts'
import { addressAnswer } from './addresses.ts'
import { addressOf, invalidParameter, transactionList, transferList } from './lists.ts'
import { searchResults } from './search.ts'
import { statistics } from './stats.ts'
import { tokenAnswer, tokenList } from './tokens.ts'
import { transactionAnswer } from './transactions.ts'
import { BlockscoutContracts, NOT_FOUND } from './verification.ts'

/** Answers a GET by the engine, the parts of its path behind the collection, and its query; `undefined` for what there is not. */
type Answer = (engine: Engine, parts: readonly string[], query: URLSearchParams) => Promise<unknown>

function hashOf(text: string): Hex {
  const hash = hashIn(text)
  if (hash === undefined) throw invalidParameter()
  return hash
}

const COLLECTIONS: Readonly<Record<string, Answer>> = {
  addresses: (engine, [first, part], query) => addressAnswer(engine, addressOf(first), part, query),
  tokens: (engine, [first = '', part], query) =>
    first === '' ? tokenList(engine, query) : tokenAnswer(engine, addressOf(first), part, query),
  transactions: (engine, [first = '', part], query) =>
    first === ''
      ? transactionList(engine, undefined, query)
      : transactionAnswer(engine, hashOf(first), part, query),
  'token-transfers': (engine, _, query) => transferList(engine, {}, query),
  search: (engine, _, query) => searchResults(engine, query.get('q') ?? ''),
  stats: (engine) => statistics(engine),
}

/** Blockscout's API of one node. */
export class Blockscout {
  readonly #node: CurrentEngine
  readonly #contracts: BlockscoutContracts

  constructor(node: CurrentEngine, verifier: Verifier) {
    this.#node = node
    this.#contracts = new BlockscoutContracts(node, verifier)
  }

  answer(request: ApiRequest): Promise<ApiReply> {
    return repliedOr(
      () => this.#route(request),
      ({ status, message }) => this.refusal(status, message),
    )
  }

  /** The reply to a request that a transport refuses. */
  refusal(status: number, message: string): ApiReply {
    return { status, body: { message } }
  }

  async #route(request: ApiRequest): Promise<ApiReply> {
    const [, , , collection = '', ...parts] = request.path.split('/')
    if (collection === 'smart-contracts') return this.#contracts.answer(request, parts)
    const answer = Object.hasOwn(COLLECTIONS, collection) ? COLLECTIONS[collection] : undefined
    if (answer === undefined || request.method !== 'GET') return NOT_FOUND
    const body = await read(this.#node, (engine) => answer(engine, parts, request.query))
    return body === undefined ? NOT_FOUND : { status: 200, body }
  }
}
