/** What a running node prints in every form of output: log lines, calls, blocks, console texts and readiness. */
import type { ChainUpdate, ConsoleOutput } from '../engine/model.ts'
import type { Logger } from '../logger.ts'
import type { OnCall, TerminalOptions } from '../options/options.ts'

/** The addresses and the chain of a node that is ready. */
export interface Readiness {
  readonly url: string
  readonly ws: string
  /** The metrics page, when it has a port of its own. */
  readonly metrics?: string
  /** The Unix socket, when there is one. */
  readonly ipc?: string
  readonly chainId: number
  /** Height. */
  readonly head: number
  readonly pid: number
}

/** One form of output: text for people, or one JSON object per line. */
export interface Reporter {
  readonly logger: Logger
  readonly call: OnCall
  /** The head of the chain changed. */
  chain(update: ChainUpdate): void
  /** Code called the console contract. */
  console(output: ConsoleOutput): void
  /** The port accepts connections; printed at every log level. */
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
export function printsActivity(options: TerminalOptions): boolean {
  return !options.quiet && isPrinted('info', options)
}

/** The message of an error, with its stack at log level debug. */
export function errorText(error: unknown, options: TerminalOptions): string {
  if (!(error instanceof Error)) return String(error)
  return (isPrinted('debug', options) ? error.stack : undefined) ?? error.message
}
