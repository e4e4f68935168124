/** Headers of the upstream's chain up to the fork point: verified, linked to their neighbours, and kept. */
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall } from '../../upstream/replies.ts'
import { RecentMap } from '../recent-map.ts'
import type { ChainAnswers } from './chain-answers.ts'
import type { ForkPoint, RemoteHeader } from './model.ts'
import { Data, WireHeader } from './wire.ts'
import { type ReadHeader, readHeader } from './wire-header.ts'

/** Headers that are kept in memory. */
const KEPT_HEADERS = 10_000

/** The call for the bytes of a header of this family. */
export function rawHeaderCall(hash: Hex): RpcCall {
  return { method: 'rsk_getRawBlockHeaderByHash', params: [hash] }
}

/** The chain that headers belong to. */
export interface HeaderParts {
  readonly point: ForkPoint
  readonly config: ChainConfig
  readonly isSameFamily: boolean
}

/** At first only the hash of the fork point is known. */
export class ChainHeaders {
  readonly #answers: ChainAnswers
  readonly #parts: HeaderParts
  readonly #headers = new RecentMap<Hex, RemoteHeader>(KEPT_HEADERS)
  /** Canonical hashes by height. */
  readonly #hashes: Map<number, Hex>

  constructor(answers: ChainAnswers, parts: HeaderParts) {
    this.#answers = answers
    this.#parts = parts
    this.#hashes = new Map([[parts.point.number, parts.point.hash]])
  }

  knownHash(number: number): Hex | undefined {
    return this.#hashes.get(number)
  }

  /** Not only of canonical blocks. `undefined` where the upstream has no such block, or it is above the fork point. */
  async byHash(hash: Hex): Promise<RemoteHeader | undefined> {
    const known = this.#headers.get(hash)
    if (known !== undefined) return known
    const call: RpcCall = { method: 'eth_getBlockByHash', params: [hash, false] }
    const [result, raw] = await this.#ask(call, rawHeaderCall(hash), `header ${hash}`)
    if (result === null) return undefined
    const fields = this.#answers.read(WireHeader, result, call.method)
    if (fields.hash !== hash)
      throw this.#answers.wrong(`block ${hash} was asked for, and ${fields.hash} answered`)
    return fields.number > this.#parts.point.number ? undefined : this.#keep(fields, this.read(fields, raw))
  }

  /** The canonical header; `undefined` above the fork point. Throws `upstream` where it is not served, or does not link. */
  async byNumber(number: number): Promise<RemoteHeader | undefined> {
    if (number < 0 || number > this.#parts.point.number) return undefined
    const hash = this.#hashes.get(number)
    if (hash === undefined) return this.#fetchByNumber(number)
    const found = await this.byHash(hash)
    if (found === undefined) throw this.notServed(number)
    this.#link(number, hash, found.header)
    return found
  }

  /** The hash of the canonical block; `undefined` above the fork point. */
  async hashAt(number: number): Promise<Hex | undefined> {
    if (number < 0 || number > this.#parts.point.number) return undefined
    return this.#hashes.get(number) ?? (await this.byNumber(number))?.hash
  }

  /** Reads and verifies the header of an answer; `raw` is the result of `rawHeaderCall`. Throws `upstream`. */
  read(fields: WireHeader, raw: unknown): ReadHeader {
    const { config, isSameFamily } = this.#parts
    const isThere = raw !== null && raw !== undefined
    const bytes = isThere ? this.#answers.read(Data, raw, 'rsk_getRawBlockHeaderByHash') : undefined
    const header = readHeader({ fields, raw: bytes }, config, isSameFamily)
    if (typeof header === 'string') throw this.#answers.wrong(header)
    return header
  }

  /** Adds the header of a canonical block. Throws `upstream` where it does not link to those above and below it. */
  add(fields: WireHeader, read: ReadHeader): RemoteHeader {
    this.#link(fields.number, fields.hash, read.header)
    return this.#keep(fields, read)
  }

  notServed(number: number): NodeError {
    return new NodeError(
      'upstream',
      `The upstream ${this.#answers.origin()} does not have block ${number}, which is below the fork point ${this.#parts.point.number}. Name a node with the whole chain with --fork.`,
    )
  }

  async #fetchByNumber(number: number): Promise<RemoteHeader> {
    const at = toQuantity(number)
    const call: RpcCall = { method: 'eth_getBlockByNumber', params: [at, false] }
    const rawCall: RpcCall = { method: 'rsk_getRawBlockHeaderByNumber', params: [at] }
    const [result, raw] = await this.#ask(call, rawCall, `block ${number}`)
    if (result === null) throw this.notServed(number)
    const fields = this.#answers.read(WireHeader, result, call.method)
    if (fields.number !== number) {
      throw this.#answers.wrong(`block ${number} was asked for, and ${fields.number} answered`)
    }
    return this.add(fields, this.read(fields, raw))
  }

  #ask(call: RpcCall, rawCall: RpcCall, what: string): Promise<unknown[]> {
    return this.#answers.ask(this.#parts.isSameFamily ? [call, rawCall] : [call], what)
  }

  #keep(fields: WireHeader, read: ReadHeader): RemoteHeader {
    const totalDifficulty = fields.totalDifficulty ?? read.header.difficulty
    const found = { ...read, hash: fields.hash, totalDifficulty }
    this.#headers.set(fields.hash, found)
    return found
  }

  #link(number: number, hash: Hex, header: Header): void {
    const known = this.#hashes.get(number)
    if (known !== undefined && known !== hash) {
      throw this.#answers.wrong(`block ${number} is ${hash}, and was ${known} before`)
    }
    const below = this.#hashes.get(number - 1)
    if (below !== undefined && below !== header.parentHash) {
      throw this.#answers.wrong(
        `the parent of block ${number} is ${header.parentHash}, and block ${number - 1} is ${below}`,
      )
    }
    const above = this.#hashes.get(number + 1)
    const next = above === undefined ? undefined : this.#headers.get(above)
    if (next !== undefined && next.header.parentHash !== hash) {
      throw this.#answers.wrong(
        `block ${number} is ${hash}, and the parent of block ${number + 1} is ${next.header.parentHash}`,
      )
    }
    this.#hashes.set(number, hash)
    if (number > 0) this.#hashes.set(number - 1, header.parentHash)
  }
}
