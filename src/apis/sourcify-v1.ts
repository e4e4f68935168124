/**
 * Sourcify's first API, as far as Hardhat 2 uses it (https://docs.sourcify.dev/docs/api/#legacy-api-v1), below `/server`:
 * `POST /server` answers when the verification has ended.
 */
import { z } from 'zod'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { MatchKind } from '../sources/compilation.ts'
import { knownAt } from './known-contract.ts'
import { inputOfMetadata } from './metadata-input.ts'
import {
  ApiError,
  type ApiReply,
  type ApiRequest,
  addressIn,
  addressOn,
  jsonIn,
  parsed,
  read,
  repliedOr,
} from './request.ts'
import type { Verifier } from './verifier.ts'

const METADATA = 'metadata.json'
/** Most addresses of one lookup. */
const MOST_ADDRESSES = 100

const VerifyBody = z.looseObject({
  address: z.string(),
  chain: z.string(),
  files: z.record(z.string(), z.string()),
})

/** The names of matches. */
const STATUS = { exact: 'perfect', partial: 'partial' } as const

/** The API of one node. */
export class SourcifyV1 {
  readonly #node: CurrentEngine
  readonly #verifier: Verifier

  constructor(node: CurrentEngine, verifier: Verifier) {
    this.#node = node
    this.#verifier = verifier
  }

  answer(request: ApiRequest): Promise<ApiReply> {
    return repliedOr(
      async () => {
        if (request.path.endsWith('/check-all-by-addresses')) return this.#check(request)
        if (request.method === 'POST') return this.#verify(request)
        throw new ApiError('There is no such endpoint', { status: 404 })
      },
      ({ status, message }) => this.refusal(status, message),
    )
  }

  /** The reply to a request that a transport refuses. */
  refusal(status: number, message: string): ApiReply {
    return { status, body: { error: message } }
  }

  get #chain(): string {
    return String(this.#node.engine.config.chainId)
  }

  async #check({ query }: ApiRequest): Promise<ApiReply> {
    const addresses = (query.get('addresses') ?? '').split(',')
    const isOurs = (query.get('chainIds') ?? '').split(',').includes(this.#chain)
    if (addresses.length > MOST_ADDRESSES) throw new ApiError(`More than ${MOST_ADDRESSES} addresses`)
    return read(this.#node, async (engine) => {
      const body: object[] = []
      for (const text of addresses) {
        const address = addressIn(text)
        if (address === undefined) throw new ApiError(`Invalid address: ${text.slice(0, 64)}`)
        const kind = isOurs ? (await knownAt(engine, address))?.match.kind : undefined
        // Clients look for the address as they have sent it.
        body.push(
          kind === undefined
            ? { address: text, status: 'false' }
            : { address: text, chainIds: [{ chainId: this.#chain, status: STATUS[kind] }] },
        )
      }
      return { status: 200, body }
    })
  }

  async #verify({ body: text }: ApiRequest): Promise<ApiReply> {
    const { address: given, chain, files } = parsed(VerifyBody, jsonIn(text))
    const address = addressOn(this.#node, chain, given)
    const metadata = Object.hasOwn(files, METADATA) ? files[METADATA] : undefined
    if (metadata === undefined) throw new ApiError(`${METADATA} is missing among the files`)
    const submission = inputOfMetadata(metadata, files)
    const known = await read(this.#node, (engine) => knownAt(engine, address))
    if (known?.match.kind === 'exact') return this.#verified(address, 'exact')
    const job = await this.#verifier.submit({ address, ...submission })
    await job.ended
    const { outcome } = job
    if (outcome === undefined || outcome.kind === 'failed')
      throw new ApiError(outcome?.message ?? 'not verified')
    return this.#verified(address, outcome.kind)
  }

  #verified(address: string, kind: MatchKind): ApiReply {
    return { status: 200, body: { result: [{ address, chainId: this.#chain, status: STATUS[kind] }] } }
  }
}
