/** The HTTP APIs of a node beside JSON-RPC: which paths are theirs, and their answers. */
import type { CurrentEngine } from '../engine/engine-holder.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Session } from '../rpc/session.ts'
import { Blockscout } from './blockscout/blockscout.ts'
import { Etherscan } from './etherscan/etherscan.ts'
import type { ApiAnswers, ApiReply, ApiRequest } from './request.ts'
import { Sourcify } from './sourcify.ts'
import { SourcifyV1 } from './sourcify-v1.ts'
import { type Compilers, Verifier } from './verifier.ts'

/** The paths of each API; a key may stand before them. */
const PATHS =
  /^(.*?)(\/api|\/v2\/api|\/v2\/chainlist|\/v2\/(?:verify|contract)\/.+|\/contracts\/(?:full|partial)_match\/.+|\/server\/?|\/server\/(?:verify|check-all-by-addresses)|\/api\/v2\/(?:smart-contracts|addresses|tokens|token-transfers|transactions|search|stats)(?:\/.*)?)$/
const BLOCKSCOUT = /^\/api\/v2\//
const SOURCIFY = /^\/(v2\/(verify|contract)|contracts)\//
const SOURCIFY_V1 = /^\/server(\/|$)/

/** Splits the path of an API into what stands before it, such as `/<key>`, and the rest; `undefined` for other paths. */
export function apiPath(path: string): { readonly before: string; readonly page: string } | undefined {
  const [, before, page] = PATHS.exec(path) ?? []
  return before === undefined || page === undefined || before.split('/').length > 2
    ? undefined
    : { before, page }
}

/** What the APIs work with. */
export interface HttpApiParts {
  readonly node: CurrentEngine
  dispatch(text: string, session: Session): Promise<string | undefined>
  readonly compilers?: Compilers | undefined
  /** Where the progress of compilers is logged; nowhere when absent. */
  readonly logger?: Logger | undefined
}

/** The APIs of one node. */
export class HttpApis implements ApiAnswers {
  readonly #etherscan: Etherscan
  readonly #sourcify: Sourcify
  readonly #sourcifyV1: SourcifyV1
  readonly #blockscout: Blockscout
  readonly #verifier: Verifier

  constructor({ node, dispatch, compilers, logger = silentLogger }: HttpApiParts) {
    this.#verifier = new Verifier(node, logger, compilers)
    this.#sourcify = new Sourcify(node, this.#verifier)
    this.#sourcifyV1 = new SourcifyV1(node, this.#verifier)
    this.#blockscout = new Blockscout(node, this.#verifier)
    this.#etherscan = new Etherscan({ node, verifier: this.#verifier, dispatch })
  }

  /** Answers a request to a path of `apiPath`. */
  answer(request: ApiRequest): Promise<ApiReply> {
    const { path } = request
    if (SOURCIFY.test(path)) return this.#sourcify.answer(request)
    if (SOURCIFY_V1.test(path)) return this.#sourcifyV1.answer(request)
    return (BLOCKSCOUT.test(path) ? this.#blockscout : this.#etherscan).answer(request)
  }

  /** The reply to a request that a transport refuses, in the words of the API: too large, no key, over a limit. */
  refusal(path: string, status: number, message: string): ApiReply {
    if (SOURCIFY.test(path)) return this.#sourcify.refusal(status, message)
    if (SOURCIFY_V1.test(path)) return this.#sourcifyV1.refusal(status, message)
    if (BLOCKSCOUT.test(path)) return this.#blockscout.refusal(status, message)
    return { status, body: { status: '0', message: 'NOTOK', result: message } }
  }

  /** Resolves when all verifications so far have ended. */
  idle(): Promise<void> {
    return this.#verifier.idle()
  }

  /** Ends what is being compiled. */
  close(): Promise<void> {
    return this.#verifier.close()
  }
}
