/** Paths of sources in a compilation, and those of an editor's files. */
import { existsSync } from 'node:fs'
import { isAbsolute, join, normalize, sep } from 'node:path'
import type { WireSource } from './wire.ts'

const slashed = (path: string): string => path.split(sep).join('/')

/** Finds an editor's file for a source, and back. */
export class SourcePaths {
  readonly #sources: readonly WireSource[]
  readonly #root: string

  /** `root` is the folder that paths of sources begin in. */
  constructor(sources: readonly WireSource[], root: string) {
    this.#sources = sources
    this.#root = root
  }

  /** The file of a source; `undefined` where it does not exist, so that the editor asks for the content. */
  fileOf(source: string): string | undefined {
    const path = isAbsolute(source) ? source : join(this.#root, source)
    return existsSync(path) ? path : undefined
  }

  /** The source that an editor's file is: of those whose paths end the file's path the longest. */
  sourceOf(file: string): WireSource | undefined {
    const wanted = slashed(normalize(file))
    const fitting = this.#sources.filter(
      ({ file: known }) => wanted === known || wanted.endsWith(`/${known}`),
    )
    return fitting.toSorted((a, b) => b.file.length - a.file.length)[0]
  }
}
