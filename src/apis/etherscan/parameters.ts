/** Parameters and replies of Etherscan's API (https://docs.etherscan.io), v1 and v2. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { StateReader } from '../../state/model.ts'
import { ApiError, addressIn, hashIn } from '../request.ts'
import type { Verifier } from '../verifier.ts'

/** `status` is `1` for a result, `0` for an error or an empty list. */
export interface EtherscanReply {
  readonly status: '0' | '1'
  readonly message: string
  readonly result: unknown
  /** Why a verification failed; not a member of Etherscan's own. */
  readonly details?: string
}

/** A result. */
export function ok(result: unknown): EtherscanReply {
  return { status: '1', message: 'OK', result }
}

/** An error in Etherscan's words. */
export function notOk(result: string, details?: string): EtherscanReply {
  return { status: '0', message: 'NOTOK', result, ...(details !== undefined && { details }) }
}

/** A list, or the words for an empty one. */
export function listed(items: readonly unknown[], none: string): EtherscanReply {
  return items.length > 0 ? ok(items) : { status: '0', message: none, result: [] }
}

/** What an action works with. */
export interface ActionContext {
  readonly node: CurrentEngine
  readonly verifier: Verifier
  readonly parameters: Parameters
  /** Calls a method of JSON-RPC for the caller; the answer is the whole reply. */
  call(method: string, params: readonly unknown[]): Promise<unknown>
}

/** One action of a module. */
export type Action = (context: ActionContext) => Promise<unknown>

/** The actions of modules by name. */
export type Modules = Readonly<Record<string, Readonly<Record<string, Action>>>>

/** Most results that pages may reach into: `page * offset` of Etherscan's. */
export const RESULT_WINDOW = 10_000

const TOO_FAR = 'Result window is too large, PageNo x Offset size must be less than or equal to 10000'

/** A page of a list. */
export interface Page {
  readonly first: number
  readonly count: number
  readonly isDescending: boolean
}

/** The parameters of a request: those of the body take precedence over those of the URL. */
export class Parameters {
  readonly #values: readonly URLSearchParams[]

  constructor(...values: readonly URLSearchParams[]) {
    this.#values = values
  }

  /** The text of the first of the names that is there; `undefined` when none is, or it is empty. */
  text(...names: readonly string[]): string | undefined {
    for (const name of names) {
      for (const values of this.#values) {
        const value = values.get(name)
        if (value !== null && value !== '') return value
      }
    }
    return undefined
  }

  /** Throws `ApiError` where it is missing. */
  required(...names: readonly string[]): string {
    const value = this.text(...names)
    if (value === undefined) throw new ApiError(`Error! Missing ${names[0]}`)
    return value
  }

  address(...names: readonly string[]): Hex {
    const address = addressIn(this.required(...names))
    if (address === undefined) throw new ApiError('Error! Invalid address format')
    return address
  }

  optionalAddress(name: string): Hex | undefined {
    return this.text(name) === undefined ? undefined : this.address(name)
  }

  hash(name: string): Hex {
    const hash = hashIn(this.required(name))
    if (hash === undefined) throw new ApiError('Error! Invalid transaction hash format')
    return hash
  }

  /** A decimal or hex integer. */
  integer(name: string, fallback?: number): number {
    const text = this.text(name)
    if (text === undefined && fallback !== undefined) return fallback
    const value = text !== undefined && /^(\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : Number.NaN
    if (!Number.isSafeInteger(value)) throw new ApiError(`Error! Invalid ${name}`)
    return value
  }

  /** `page` and `offset`: without them the first 10,000 results. Throws `ApiError` beyond the window. */
  page(): Page {
    const page = this.integer('page', 1)
    const count = this.integer('offset', page > 1 ? 10 : RESULT_WINDOW)
    const sort = this.text('sort')?.toLowerCase()
    if (page < 1 || count < 1) throw new ApiError('Error! Page number or Offset is invalid')
    if (page * count > RESULT_WINDOW) throw new ApiError(TOO_FAR)
    return { first: (page - 1) * count, count, isDescending: sort === 'desc' }
  }

  /** `startblock` and `endblock`, both included. */
  blocks(from = 'startblock', to = 'endblock'): { readonly from: number; readonly to: number } {
    const last =
      this.text(to) === 'latest' ? Number.MAX_SAFE_INTEGER : this.integer(to, Number.MAX_SAFE_INTEGER)
    return { from: this.integer(from, 0), to: last }
  }
}

/** The state after the block of `tag`: `latest` unless given. Throws `ApiError`. */
export async function stateOf(engine: Engine, parameters: Parameters): Promise<StateReader> {
  const tag = parameters.text('tag') ?? 'latest'
  const isNamed = tag === 'latest' || tag === 'pending' || tag === 'earliest'
  const state = await engine.queries.state(isNamed ? { tag } : { number: parameters.integer('tag') })
  if (state === undefined) throw new ApiError('Error! Invalid block number')
  return state
}
