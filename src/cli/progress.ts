/** Progress of a long run: a bar that is redrawn on a terminal, lines at intervals anywhere else. */
import { timeLeft } from '../engine/progress.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { plain } from './terminal-text.ts'

/** How often a bar is drawn, and how often a line is printed, milliseconds. */
const BAR_MS = 100
const LINE_MS = 5_000
const BAR_CELLS = 20
const CLEAR_LINE = '\r\u001b[2K'

/** Where progress is shown. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

/** What has been done so far. */
export interface Tally {
  readonly blocks: number
  readonly gas: bigint
}

/** Shows progress. */
export interface Progress {
  /** Draws the state if it is time; `done` is the part of the whole, 0 to 1, where that is known. */
  show(text: string, tally: Tally, done?: number): void
  /** Removes the bar. */
  clear(): void
  /** Blocks and gas a second since the beginning, and the seconds. */
  rates(tally: Tally): string
}

/** Makes the progress of a run that begins now; `milliseconds` is the clock. */
export function createProgress(stream: ProgressStream, milliseconds: () => number): Progress {
  const start = milliseconds()
  const isTerminal = stream.isTTY === true
  let latest = start
  let isDrawn = false

  function rates({ blocks, gas }: Tally): string {
    const seconds = Math.max(0.001, (milliseconds() - start) / 1000)
    const perSecond = (count: number) =>
      (count / seconds).toLocaleString('en-US', { maximumFractionDigits: 1 })
    return `${perSecond(blocks)} blocks/s, ${perSecond(Number(gas) / 1e6)} Mgas/s`
  }

  function bar(done: number): string {
    const full = Math.round(done * BAR_CELLS)
    return `[${'#'.repeat(full)}${'-'.repeat(BAR_CELLS - full)}] `
  }

  return {
    rates,
    show(text, tally, done) {
      const now = milliseconds()
      if (now - latest < (isTerminal ? BAR_MS : LINE_MS)) return
      latest = now
      const share = done === undefined ? '' : `${Math.floor(100 * done)} % `
      const left = done === undefined ? '' : timeLeft(done, now - start)
      const line = `${share}${[text, left, rates(tally)].filter((part) => part !== '').join(', ')}`
      if (!isTerminal) {
        stream.write(`${line}\n`)
        return
      }
      const drawn = done === undefined ? line : `${bar(done)}${line}`
      stream.write(CLEAR_LINE + drawn.slice(0, (stream.columns ?? 80) - 1))
      isDrawn = true
    },
    clear() {
      if (isDrawn) stream.write(CLEAR_LINE)
      isDrawn = false
    },
  }
}

/** A log whose latest line stands on a terminal until the next, or until it is cleared; nothing anywhere else. */
export interface PassingLog {
  readonly logger: Logger
  clear(): void
}

/** Makes one for the progress that a command's node logs. */
export function createPassingLog(stream: ProgressStream): PassingLog {
  if (stream.isTTY !== true) return { logger: silentLogger, clear: () => {} }
  const info = (message: string) =>
    void stream.write(CLEAR_LINE + plain(message).slice(0, (stream.columns ?? 80) - 1))
  return { logger: { ...silentLogger, info }, clear: () => void stream.write(CLEAR_LINE) }
}
