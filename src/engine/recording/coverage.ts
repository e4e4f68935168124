/** The coverage of an engine: what its recordings hold, by the sources that it knows. */
import { CompilationCoverage, mergeFiles } from '../../coverage/compilation-coverage.ts'
import { fileCoverage } from '../../coverage/istanbul.ts'
import type { Hex } from '../../encoding/hex.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { CodeMaps } from '../sources/code-maps.ts'
import type { SourceStore } from '../sources/source-store.ts'
import type { Coverage, CoverageReport } from './model.ts'
import { type Recordings, RUN_KINDS, type RunKind } from './recordings.ts'

interface Parts {
  readonly recordings: Recordings
  readonly store: SourceStore
  readonly maps: CodeMaps
}

/** Coverage of one engine. */
export class EngineCoverage implements Coverage {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get kinds(): readonly RunKind[] {
    return RUN_KINDS.filter((kind) => this.#parts.recordings.covered.has(kind))
  }

  start(kinds: readonly RunKind[]): void {
    this.#parts.recordings.startCoverage(kinds)
  }

  stop(): void {
    this.#parts.recordings.stopCoverage()
  }

  async report(): Promise<CoverageReport> {
    const { recordings, store } = this.#parts
    const yieldIfDue = createEventLoopYield('query')
    const compilations = new Map<Hex, CompilationCoverage>()
    for (const id of await store.ids()) {
      const coverage = await this.#coverageOf(id)
      if (coverage !== undefined) compilations.set(id, coverage)
      await yieldIfDue()
    }
    let unknown = 0
    for (const executed of recordings.codes.all) {
      if (!(await this.#add(executed, compilations))) unknown++
      await yieldIfDue()
    }
    const { files, older } = mergeFiles(compilations.values())
    return {
      files: Object.fromEntries([...files].map(([path, counts]) => [path, fileCoverage(counts)])),
      notes: [
        ...older.map((path) => `An older version of ${path} ran as well; its coverage is left out.`),
        ...notesOf(unknown, recordings.codes.dropped),
      ],
    }
  }

  async #coverageOf(id: Hex): Promise<CompilationCoverage | undefined> {
    const { store, maps } = this.#parts
    const map = await maps.compilation(id)
    const compilation = await store.get(id)
    return map && compilation && new CompilationCoverage(compilation, map)
  }

  /** Adds the counts of a code; false where no sources are known for it. */
  async #add(
    executed: Parameters<CompilationCoverage['add']>[1],
    compilations: ReadonlyMap<Hex, CompilationCoverage>,
  ): Promise<boolean> {
    const found = await this.#parts.maps.ofCode(executed.code, executed.isCreation)
    const coverage = found && compilations.get(found.compilation)
    if (found === undefined || coverage === undefined) return false
    coverage.add(found.map, executed)
    return true
  }
}

function notesOf(unknown: number, dropped: number): string[] {
  const codes = (count: number) => (count === 1 ? 'code' : 'codes')
  return [
    ...(unknown > 0 ? [`${unknown} ${codes(unknown)} ran whose sources are not known.`] : []),
    ...(dropped > 0
      ? [`${dropped} ${codes(dropped)} ran beyond the memory for the record, and are left out.`]
      : []),
  ]
}
