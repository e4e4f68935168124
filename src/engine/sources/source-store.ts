/**
 * The sources that a node knows: compilations in its database, found by the code that they explain. They are no part of
 * the chain: reverts and reorganisations keep them.
 */
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Artifact } from '../../abi/artifact.ts'
import { loadAbiCodec } from '../../abi/codec.ts'
import type { DumpedSources, VerifiedContract } from '../../chain/state-file/records.ts'
import { fromHex, type Hex, toHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { type CodeTemplate, fill, metadataLength, templateOf } from '../../sources/code-template.ts'
import {
  type Compilation,
  compilationId,
  compilationText,
  contractIn,
  contractsOf,
  type SourceMatch,
} from '../../sources/compilation.ts'
import { artifactOf } from '../../sources/compiled-abis.ts'
import { type CreationProbe, creationProbe, mayBegin } from '../../sources/creation-probe.ts'
import { LONGEST_COMPILATION, restoreCompilation } from '../../sources/read-compilation.ts'
import type { CompiledCode, StoredCompilation } from '../../store/node-records.ts'
import { codeEntryKey, codesOfLength, compilationOf } from '../../store/source-keys.ts'
import type { KeyValueReader, Write } from '../../store/table.ts'
import { type SourceTables, sourceTables } from '../../store/tables.ts'

/** Contracts whose names are kept in memory. */
const MOST_ABIS = 512

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** How much is kept; the oldest compilations are dropped beyond it. */
export interface SourceBounds {
  readonly compilations: number
  /** Bytes in the tables. */
  readonly bytes: number
}

/** Characters of the compilations in a state file. */
const MOST_TEXT = 67_108_864

const BOUNDS: SourceBounds = { compilations: 1024, bytes: 536_870_912 }

interface Parts extends KeyValueReader {
  batch(writes: readonly Write[]): Promise<void>
}

/** A compilation as it is written. */
export interface PreparedCompilation {
  readonly id: Hex
  readonly text: Uint8Array
  readonly codes: readonly { readonly length: number; readonly code: CompiledCode }[]
  readonly creations: readonly CreationProbe[]
  readonly bytes: number
}

function codeOf(file: string, name: string, { code, links, immutables }: CodeTemplate): CompiledCode {
  return { file, name, code: toHex(code), links, immutables }
}

/** Compresses a compilation; this needs no order among other changes. */
export async function prepare(compilation: Compilation): Promise<PreparedCompilation> {
  const text = await compress(compilationText(compilation))
  let bytes = text.length
  const contracts = [...contractsOf(compilation)]
  const codes = contracts.map(({ file, name, contract }) => {
    const template = templateOf(contract.evm.deployedBytecode)
    bytes += 2 * template.code.length
    return {
      length: template.code.length - metadataLength(template.code),
      code: codeOf(file, name, template),
    }
  })
  const creations = contracts.map(({ contract }) => creationProbe(templateOf(contract.evm.bytecode)))
  return { id: compilation.id, text, codes, creations, bytes }
}

/** A compilation and its number, which is greater than those of the older ones. */
type OrderedCompilation = StoredCompilation & { readonly number: number }
type Order = Map<Hex, OrderedCompilation>

/** The sources of one database. `add` and `note` are parts of commands and must not overlap. */
export class SourceStore {
  readonly #store: Parts
  readonly #tables: SourceTables
  readonly #bounds: SourceBounds
  /** All compilations, the oldest first; read at the first use. */
  #order: Order | undefined
  readonly #abis = new LRUCache<string, { readonly artifact: Artifact | undefined }>({ max: MOST_ABIS })
  #generation = 0

  constructor(store: Parts, bounds: SourceBounds = BOUNDS) {
    this.#store = store
    this.#tables = sourceTables(store)
    this.#bounds = bounds
  }

  /** Another one after each change: what was found before may be found no more. */
  get generation(): number {
    return this.#generation
  }

  /** Reads the tables again at the next use, after another node has changed them. */
  reload(): void {
    this.#order = undefined
    this.#changed()
  }

  #changed(): void {
    this.#abis.clear()
    this.#generation++
  }

  /**
   * Adds a compilation, and drops the oldest ones beyond the bounds; false when it is known. Durable once it resolves.
   * Throws `invalid-params` for one that is larger than all bounds.
   */
  async add({ id, text, codes, creations, bytes }: PreparedCompilation): Promise<boolean> {
    const { compilations, compilationOrder, compiledCodes } = this.#tables
    if (bytes > this.#bounds.bytes) {
      throw new NodeError(
        'invalid-params',
        `The compilation takes ${bytes} bytes, and there is room for ${this.#bounds.bytes}.`,
      )
    }
    const order = await this.#known()
    if (order.has(id)) return false
    const entry = { id, bytes, lengths: codes.map(({ length }) => length), creations }
    const number = 1 + ([...order.values()].at(-1)?.number ?? 0)
    const dropped = this.#beyondBounds(order, bytes)
    const writes = [
      ...dropped.flatMap((compilation) => this.#removal(compilation)),
      compilations.put(id, text),
      compilationOrder.put(number, entry),
      ...codes.map(({ length, code }, index) => compiledCodes.put(codeEntryKey(length, id, index), code)),
    ]
    await this.#store.batch(writes)
    for (const compilation of dropped) order.delete(compilation.id)
    order.set(id, { ...entry, number })
    this.#changed()
    return true
  }

  /** Notes which contract a person has verified at an address. */
  async note({ address, ...verification }: VerifiedContract): Promise<void> {
    await this.#store.batch([this.#tables.verifications.put(address, verification)])
    this.#changed()
  }

  /** Is no compilation known? */
  async isEmpty(): Promise<boolean> {
    return (await this.#known()).size === 0
  }

  /** The names in the ABI of a matching contract, kept by a key of the contract until sources are added. */
  async abiOf(key: string, find: () => Promise<SourceMatch | undefined>): Promise<Artifact | undefined> {
    const generation = this.#generation
    const kept = this.#abis.get(key)
    if (kept !== undefined) return kept.artifact
    const match = await find()
    const compilation = match && (await this.get(match.compilation))
    const contract = compilation && contractIn(compilation, match)
    const artifact = contract && match && artifactOf(contract, match.name, await loadAbiCodec())
    // What was found before a change is not kept.
    if (generation === this.#generation) this.#abis.set(key, { artifact })
    return artifact
  }

  /** Ids of all compilations, the oldest first. */
  async ids(): Promise<readonly Hex[]> {
    return [...(await this.#known()).keys()]
  }

  /** What a state file keeps: the newest compilations of 64 Mi characters together at most, and what was verified by them. */
  async dump(): Promise<DumpedSources> {
    const texts: string[] = []
    const kept = new Set<Hex>()
    let length = 0
    for (const id of [...(await this.ids())].reverse()) {
      const compilation = await this.get(id)
      if (compilation === undefined) continue
      const text = compilationText(compilation)
      length += text.length
      if (length > MOST_TEXT) break
      texts.push(text)
      kept.add(id)
    }
    const verified: VerifiedContract[] = []
    for await (const [address, noted] of this.#tables.verifications.range()) {
      if (kept.has(noted.compilation)) verified.push({ address, ...noted })
    }
    return { texts: texts.reverse(), verified }
  }

  async get(id: Hex): Promise<Compilation | undefined> {
    const stored = this.#tables.compilations.get(id)
    if (stored === undefined) return undefined
    const text = (await decompress(stored, { maxOutputLength: 4 * LONGEST_COMPILATION })).toString()
    if (compilationId(text) !== id) throw new NodeError('database', `The compilation ${id} is damaged.`)
    return restoreCompilation(text)
  }

  /**
   * The contract whose compiled code this is; `undefined` when none is known. An exact match comes before a partial one,
   * the contract noted for the address before others of its kind, and later compilations before earlier ones. Reads the codes
   * of the same length only.
   */
  async match(
    code: Uint8Array,
    noted?: { readonly address: Hex; readonly codeHash: Hex },
  ): Promise<SourceMatch | undefined> {
    if (code.length === 0) return undefined
    const order = await this.#known()
    const ofPerson = this.#noted(noted)
    const length = code.length - metadataLength(code)
    let best: { readonly match: SourceMatch; readonly rank: number } | undefined
    const range = [codesOfLength(length), codesOfLength(length + 1)] as const
    for await (const [key, record] of this.#tables.compiledCodes.range(...range)) {
      const compilation = compilationOf(key)
      const number = order.get(compilation)?.number ?? 0
      const filled = fill({ ...record, code: fromHex(record.code) }, code)
      if (filled === undefined) continue
      const { file, name } = record
      const isNoted =
        ofPerson?.compilation === compilation && ofPerson.file === file && ofPerson.name === name
      const rank = number + (filled.kind === 'exact' ? 2 ** 50 : 0) + (isNoted ? 2 ** 49 : 0)
      if (best === undefined || rank > best.rank) {
        best = { rank, match: { ...filled, compilation, file, name } }
      }
    }
    return best?.match
  }

  /** Ids of the compilations of which one may have made this init code, the latest first. */
  async mayHaveCreated(initcode: Uint8Array): Promise<readonly Hex[]> {
    const order = [...(await this.#known()).values()]
    return order
      .filter(({ creations }) => creations.some((probe) => mayBegin(probe, initcode)))
      .map(({ id }) => id)
      .toReversed()
  }

  /** What a person has verified at an address, unless its code has changed since. */
  #noted(at: { readonly address: Hex; readonly codeHash: Hex } | undefined) {
    const noted = at && this.#tables.verifications.get(at.address)
    return noted?.codeHash === at?.codeHash ? noted : undefined
  }

  /** The oldest compilations, without which there is room for another one of so many bytes. */
  #beyondBounds(order: Order, bytes: number): OrderedCompilation[] {
    let taken = bytes
    for (const entry of order.values()) taken += entry.bytes
    let left = order.size
    const dropped: OrderedCompilation[] = []
    for (const entry of order.values()) {
      if (left < this.#bounds.compilations && taken <= this.#bounds.bytes) break
      taken -= entry.bytes
      left--
      dropped.push(entry)
    }
    return dropped
  }

  #removal({ id, number, lengths }: OrderedCompilation): Write[] {
    const { compilations, compilationOrder, compiledCodes } = this.#tables
    const codes = lengths.map((length, index) => compiledCodes.del(codeEntryKey(length, id, index)))
    return [compilations.del(id), compilationOrder.del(number), ...codes]
  }

  async #known(): Promise<Order> {
    if (this.#order !== undefined) return this.#order
    const order: Order = new Map()
    for await (const [number, entry] of this.#tables.compilationOrder.range()) {
      order.set(entry.id, { ...entry, number })
    }
    this.#order ??= order
    return this.#order
  }
}
