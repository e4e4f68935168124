/** Places in sources as an editor knows them: files, lines and columns, and frames at them. */
import { Source, StackFrame } from '@vscode/debugadapter'
import type { DebugProtocol } from '@vscode/debugprotocol'
import type { SourcePaths } from './source-paths.ts'
import type { WireFrame, WireSource } from './wire.ts'

/** Converts what an editor counts and names in its own way. */
export interface Conversions {
  lineToClient(line: number): number
  lineFromClient(line: number): number
  columnToClient(column: number): number
  pathToClient(path: string): string
  pathFromClient(path: string): string
}

/** The places of one execution. */
export class EditorPlaces {
  readonly convert: Conversions
  readonly #paths: SourcePaths
  readonly #sources: readonly WireSource[]

  constructor(sources: readonly WireSource[], paths: SourcePaths, convert: Conversions) {
    this.#sources = sources
    this.#paths = paths
    this.convert = convert
  }

  /** A source: the editor's file, or a reference by which the editor asks for the content. */
  sourceAt(file: string): DebugProtocol.Source {
    const path = this.#paths.fileOf(file)
    const name = file.split('/').at(-1) ?? file
    if (path !== undefined) return new Source(name, this.convert.pathToClient(path))
    const index = this.#sources.findIndex((source) => source.file === file)
    return { name, path: file, sourceReference: index + 1 }
  }

  /** The source that an editor means. */
  sourceOf({ path = '', sourceReference = 0 }: DebugProtocol.Source): WireSource | undefined {
    return sourceReference > 0
      ? this.#sources[sourceReference - 1]
      : this.#paths.sourceOf(this.convert.pathFromClient(path))
  }

  /** A frame, with its index in the stack as its id. */
  frame(frame: WireFrame, index: number): DebugProtocol.StackFrame {
    const { contract, function: called, file, line, column, endLine, endColumn, address } = frame
    const name = [contract ?? address, called].filter((part) => part !== undefined).join('.') || '?'
    const shown = new StackFrame(index, name)
    if (file === undefined || line === undefined)
      return { ...shown, line: 0, column: 0, presentationHint: 'subtle' }
    const { convert } = this
    return {
      ...shown,
      source: this.sourceAt(file),
      line: convert.lineToClient(line),
      column: convert.columnToClient(column ?? 1),
      ...(endLine !== undefined && { endLine: convert.lineToClient(endLine) }),
      ...(endColumn !== undefined && { endColumn: convert.columnToClient(endColumn) }),
    }
  }
}
