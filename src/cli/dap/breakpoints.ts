/** The breakpoints of an editor. */
import { Breakpoint } from '@vscode/debugadapter'
import type { DebugProtocol } from '@vscode/debugprotocol'
import type { EditorPlaces } from './editor-places.ts'
import type { WireBreakpoints, WireSource } from './wire.ts'

/** The line at which a breakpoint stops: the first at which a statement begins, from the wanted one on. */
function boundLine({ lines, content }: WireSource, wanted: number): number | undefined {
  if (lines.length > 0) return lines.find((line) => line >= wanted)
  return wanted <= content.split('\n').length ? wanted : undefined
}

/** Breakpoints by line, and the filters of failures and events. */
export class EditorBreakpoints {
  /** Lines by source. */
  readonly #lines = new Map<string, readonly number[]>()
  #filters: readonly string[] = []

  /** What `continue` stops at. */
  get wire(): WireBreakpoints {
    return {
      lines: [...this.#lines].flatMap(([file, lines]) => lines.map((line) => ({ file, line }))),
      anyEvent: this.#filters.includes('events'),
      failures: this.#filters.includes('failures'),
    }
  }

  set filters(filters: readonly string[]) {
    this.#filters = filters
  }

  /** Sets all breakpoints of a source; each with the line at which it stops, if there is one. */
  setLines(
    source: DebugProtocol.Source,
    wanted: readonly DebugProtocol.SourceBreakpoint[],
    places: EditorPlaces,
  ): DebugProtocol.Breakpoint[] {
    const found = places.sourceOf(source)
    const bound = wanted.map(({ line }) => found && boundLine(found, places.convert.lineFromClient(line)))
    if (found !== undefined) {
      const lines = bound.flatMap((line) => line ?? [])
      this.#lines.set(found.file, lines)
    }
    return bound.map((line) =>
      line === undefined
        ? { ...new Breakpoint(false), message: 'No statement of the sources that run is here.' }
        : new Breakpoint(true, places.convert.lineToClient(line)),
    )
  }
}
