/** What the running command says, whatever the form: its own lines, calls, blocks, and that it is ready. */
import type { ChainUpdate, ConsoleOutput } from '../engine/model.ts'
import type { Logger } from '../logger.ts'
import type { OnCall, TerminalOptions } from '../options/options.ts'

/** Where a node can be called, and what it is. */
export interface Readiness {
  readonly url: string
  readonly ws: string
  /** Where the figures are, when they have a port of their own. */
  readonly metrics?: string
  readonly chainId: number
  /** Height. */
  readonly head: number
  readonly pid: number
}

/** One form of output: text for people, or one JSON object a line. */
export interface Reporter {
  readonly logger: Logger
  readonly call: OnCall
  /** The chain moved. */
  chain(update: ChainUpdate): void
  /** Code said something. */
  console(said: ConsoleOutput): void
  /** The one line that says that the port answers; never left out. */
  ready(readiness: Readiness): void
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** A level of importance. */
export type Level = Exclude<TerminalOptions['logLevel'], 'silent'>

/** Is a line of this level printed? */
export function isPrinted(level: Level, { logLevel }: TerminalOptions): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(logLevel)
}

/** Are calls and blocks printed? */
export function isTalkative(options: TerminalOptions): boolean {
  return !options.quiet && isPrinted('info', options)
}

/** The words of an error; a stack is for those who asked for debug lines. */
export function wordsOf(error: unknown, options: TerminalOptions): string {
  if (!(error instanceof Error)) return String(error)
  return (isPrinted('debug', options) ? error.stack : undefined) ?? error.message
}
