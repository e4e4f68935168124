/** The coverage of the sources of compilations, by the counts of the codes that were made of them. */
import type { CodeMap } from '../source-level/code-map.ts'
import type { CompilationMap } from '../source-level/compilation-map.ts'
import type { SourceFile } from '../source-level/source-file.ts'
import { treeIn } from '../source-level/syntax-tree.ts'
import type { Compilation } from '../sources/compilation.ts'
import { coverableFile } from './coverable-file.ts'
import type { ExecutedCode } from './executed-codes.ts'
import { type CodeRun, FileCounts } from './file-counts.ts'

/** The counts of one compilation. */
export class CompilationCoverage {
  /** By path: a code map that was kept longer has files of its own. */
  readonly #files = new Map<string, FileCounts>()

  /** `map` is that of the compilation. Sources without a syntax tree are left out. */
  constructor({ output }: Compilation, map: CompilationMap) {
    const byId = new Map<number, SourceFile>()
    for (const [path, { id }] of Object.entries(output.sources)) {
      const file = map.files.get(path)
      if (file?.hasText && typeof id === 'number') byId.set(id, file)
    }
    for (const [path, source] of Object.entries(output.sources)) {
      const file = map.files.get(path)
      const tree = treeIn(source)
      if (!file?.hasText || tree === undefined) continue
      const coverable = coverableFile(file, tree, (id) => byId.get(id))
      if (coverable.functions.length > 0) this.#files.set(path, new FileCounts(coverable))
    }
  }

  /** The files with functions. */
  get files(): Iterable<FileCounts> {
    return this.#files.values()
  }

  /** Adds what a code did; `map` is of the same compilation. */
  add(map: CodeMap, executed: ExecutedCode): void {
    const runs = new Map<FileCounts, CodeRun>()
    for (let pc = 0; pc < map.length; pc++) {
      const file = map.at(pc)?.range?.file
      const counts = file && this.#files.get(file.path)
      if (counts === undefined) continue
      let run = runs.get(counts)
      if (run === undefined) {
        run = counts.begin()
        runs.set(counts, run)
      }
      counts.take(run, map, executed, pc)
    }
    for (const [counts, run] of runs) counts.end(run)
  }
}

/** Files of compilations by path, the oldest compilation first. */
export interface MergedFiles {
  readonly files: ReadonlyMap<string, FileCounts>
  /** Paths of which an older version, whose counts are left out, ran as well. */
  readonly older: readonly string[]
}

/** Adds the counts of equal sources; of different ones those of the newest compilation count. */
export function mergeFiles(compilations: Iterable<CompilationCoverage>): MergedFiles {
  const files = new Map<string, FileCounts>()
  const older = new Set<string>()
  for (const compilation of compilations) {
    for (const counts of compilation.files) {
      const { path } = counts.coverable.file
      const known = files.get(path)
      if (known?.fits(counts)) known.merge(counts)
      else {
        if (known?.hasRun) older.add(path)
        files.set(path, counts)
      }
    }
  }
  return { files, older: [...older] }
}
