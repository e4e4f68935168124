/** Etherscan's API: `/api`, and `/v2/api` with the id of the chain. Every answer has status 200, as theirs have. */
import { z } from 'zod'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import { NodeError } from '../../errors.ts'
import type { Session } from '../../rpc/session.ts'
import { ApiError, type ApiReply, type ApiRequest } from '../request.ts'
import type { Verifier } from '../verifier.ts'
import { ACCOUNT_ACTIONS } from './account.ts'
import { CHAIN_MODULES } from './chain.ts'
import { CONTRACT_ACTIONS } from './contract.ts'
import { type Action, type EtherscanReply, type Modules, notOk, Parameters } from './parameters.ts'
import { PROXY_ACTIONS } from './proxy.ts'

const MODULES: Modules = {
  account: ACCOUNT_ACTIONS,
  contract: CONTRACT_ACTIONS,
  proxy: PROXY_ACTIONS,
  ...CHAIN_MODULES,
}

const NO_MODULE = 'Error! Missing Or invalid Module name'
const NO_ACTION = 'Error! Missing Or invalid Action name'
const NO_CHAIN =
  'Missing or unsupported chainid parameter (required for v2 api), please see /v2/chainlist for the list of supported chainids'

/** What the API works with. */
export interface EtherscanParts {
  readonly node: CurrentEngine
  readonly verifier: Verifier
  /** Answers JSON-RPC text. */
  dispatch(text: string, session: Session): Promise<string | undefined>
}

const RpcReply = z.looseObject({ jsonrpc: z.string() })

function actionOf(parameters: Parameters): Action {
  const module = parameters.text('module')?.toLowerCase() ?? ''
  const action = parameters.text('action') ?? ''
  const actions = Object.hasOwn(MODULES, module) ? MODULES[module] : undefined
  if (actions === undefined) throw new ApiError(NO_MODULE)
  const name = Object.keys(actions).find((known) => known.toLowerCase() === action.toLowerCase())
  const found = name === undefined ? undefined : actions[name]
  if (found === undefined) throw new ApiError(NO_ACTION)
  return found
}

/** The parameters of a request, those of a form in its body first. */
function parametersOf({ method, contentType, body, query }: ApiRequest): Parameters {
  const isForm = method === 'POST' && !contentType.includes('json')
  return isForm ? new Parameters(new URLSearchParams(body), query) : new Parameters(query)
}

function errorReply(error: unknown): EtherscanReply {
  if (error instanceof ApiError) return notOk(error.message)
  if (error instanceof NodeError && error.kind !== 'internal') return notOk(`Error! ${error.message}`)
  throw error
}

/** Etherscan's API of one node. */
export class Etherscan {
  readonly #parts: EtherscanParts

  constructor(parts: EtherscanParts) {
    this.#parts = parts
  }

  async answer(request: ApiRequest): Promise<ApiReply> {
    if (request.path === '/v2/chainlist') return { status: 200, body: this.#chains(request) }
    try {
      const parameters = parametersOf(request)
      this.#checkChain(parameters, request.path === '/v2/api')
      const { node, verifier } = this.#parts
      const call = (method: string, params: readonly unknown[]) => this.#call(method, params, request.session)
      const body = await actionOf(parameters)({ node, verifier, parameters, call })
      return { status: 200, body }
    } catch (error) {
      return { status: 200, body: errorReply(error) }
    }
  }

  #checkChain(parameters: Parameters, isRequired: boolean): void {
    const given = parameters.text('chainid', 'chainId')
    const own = String(this.#parts.node.engine.config.chainId)
    if (given === undefined ? isRequired : given !== own) throw new ApiError(NO_CHAIN)
  }

  async #call(method: string, params: readonly unknown[], session: Session): Promise<unknown> {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return RpcReply.parse(JSON.parse((await this.#parts.dispatch(text, session)) ?? '{}'))
  }

  #chains({ origin }: ApiRequest): object {
    const { config } = this.#parts.node.engine
    const chain = {
      chainname: config.name,
      chainid: String(config.chainId),
      blockexplorer: origin,
      apiurl: `${origin}/v2/api?chainid=${config.chainId}`,
      status: 1,
    }
    return { comments: '', totalcount: 1, result: [chain] }
  }
}
