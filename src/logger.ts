/** The node's log. All folders log through this type; `cli` has the logger that prints. */

/** A sink for log lines. `fields` are printed as given; never put keys or passwords in them. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

const ignore = (): void => {}

/** A logger that drops everything: the default in process. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
