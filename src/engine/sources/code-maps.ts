/** The maps of codes that ran, by the sources that the node knows. */
import { LRUCache } from 'lru-cache'
import { DebugSources } from '../../debugger/debug-sources.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { CodeMap } from '../../source-level/code-map.ts'
import { CompilationMap } from '../../source-level/compilation-map.ts'
import type { RecordedMessage } from '../../source-level/message-recorder.ts'
import type { CodeOf } from '../../source-level/stack/message-run.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { SourceStore } from './source-store.ts'

/** Characters of the compilations that are kept with their maps. */
const CACHE_CHARACTERS = 64 << 20
/** Compilations whose statements and types are kept. */
const MOST_DEBUG_SOURCES = 16
/** Compilations that are read to find the one that made init code. */
const MOST_READ = 16
/** Messages of one transaction whose codes are looked up. */
const MOST_MESSAGES = 10_000

/** A code and what was found for it. */
interface Found {
  /** Of the store at that time. */
  readonly generation: number
  readonly found: MappedCode | undefined
}

/** A map, and the id of the compilation that it belongs to. */
export interface MappedCode {
  readonly map: CodeMap
  readonly compilation: Hex
}

/** Finds maps, and keeps them. */
export class CodeMaps {
  readonly #store: SourceStore
  readonly #compilations = new LRUCache<Hex, CompilationMap>({
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: ({ size }) => Math.max(1, size),
  })
  readonly #loading = new Map<Hex, Promise<CompilationMap | undefined>>()
  readonly #created = new WeakMap<Uint8Array, Found>()
  readonly #deployed = new WeakMap<Uint8Array, Found>()
  readonly #debugSources = new LRUCache<Hex, DebugSources>({ max: MOST_DEBUG_SOURCES })

  constructor(store: SourceStore) {
    this.#store = store
  }

  /** A compilation with its maps, by its id. */
  async compilation(id: Hex): Promise<CompilationMap | undefined> {
    const kept = this.#compilations.get(id)
    if (kept !== undefined) return kept
    const loading = this.#loading.get(id) ?? this.#load(id)
    this.#loading.set(id, loading)
    return loading.finally(() => this.#loading.delete(id))
  }

  async #load(id: Hex): Promise<CompilationMap | undefined> {
    const compilation = await this.#store.get(id)
    if (compilation === undefined) return undefined
    const map = new CompilationMap(compilation)
    this.#compilations.set(id, map)
    return map
  }

  /** What a debugger needs of a compilation, by its id. */
  async debugSources(id: Hex): Promise<DebugSources | undefined> {
    const kept = this.#debugSources.get(id)
    if (kept !== undefined) return kept
    const [compilation, map] = [await this.#store.get(id), await this.compilation(id)]
    if (compilation === undefined || map === undefined) return undefined
    const sources = await DebugSources.read(compilation, map, createEventLoopYield('query'))
    this.#debugSources.set(id, sources)
    return sources
  }

  /** The maps of the codes that a message, and those that it sent, ran. */
  async of(root: RecordedMessage): Promise<CodeOf> {
    const found = new Map<RecordedMessage, CodeMap>()
    const yieldIfDue = createEventLoopYield('query')
    const messages = [root]
    for (let read = 0; read < MOST_MESSAGES; read++) {
      const message = messages[read]
      if (message === undefined) break
      await yieldIfDue()
      const { code, kind } = message
      const isCreation = kind === 'create' || kind === 'create2'
      const mapped = code && (await this.ofCode(code, isCreation))
      if (mapped !== undefined) found.set(message, mapped.map)
      for (const { message: next } of message.sent) {
        if (messages.length < MOST_MESSAGES) messages.push(next)
      }
    }
    return (message) => found.get(message)
  }

  /** The map of init code, or of the code of a contract. */
  async ofCode(code: Uint8Array, isCreation: boolean): Promise<MappedCode | undefined> {
    const { generation } = this.#store
    const codes = isCreation ? this.#created : this.#deployed
    const known = codes.get(code)
    if (known?.generation === generation) return known.found
    const found = isCreation ? await this.#mapCreated(code) : await this.#mapDeployed(code)
    codes.set(code, { generation, found })
    return found
  }

  async #mapDeployed(code: Uint8Array): Promise<MappedCode | undefined> {
    const match = await this.#store.match(code)
    const map = match && (await this.compilation(match.compilation))?.code(match, false)
    return match && map && { map, compilation: match.compilation }
  }

  async #mapCreated(initcode: Uint8Array): Promise<MappedCode | undefined> {
    let partial: MappedCode | undefined
    const ids = await this.#store.mayHaveCreated(initcode)
    for (const id of ids.slice(0, MOST_READ)) {
      const compilation = await this.compilation(id)
      const found = compilation?.creationOf(initcode)
      const map = found && compilation?.code(found, true)
      if (found === undefined || map === undefined) continue
      if (found.kind === 'exact') return { map, compilation: id }
      partial ??= { map, compilation: id }
    }
    return partial
  }
}
