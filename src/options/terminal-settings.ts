/** Settings of what the command prints and reports. */
import { oneOf, text, yesOrNo } from './kinds.ts'
import { setting } from './setting.ts'

/** The settings of what the command prints and reports. */
export const TERMINAL_SETTINGS = {
  logLevel: setting(oneOf('debug', 'info', 'warn', 'error', 'silent'), {
    flag: '--log-level <level>',
    help: 'least important lines to print: debug, info, warn, error or silent',
    fallback: 'info',
  }),
  quiet: setting(yesOrNo, { flag: '--quiet', help: 'no banner, no line per call', fallback: false }),
  json: setting(yesOrNo, { flag: '--json', help: 'print one JSON object a line', fallback: false }),
  readyFile: setting(text, {
    flag: '--ready-file <file>',
    help: 'file that holds the URL while the port accepts connections',
    fallback: undefined,
    fallbackText: 'none',
  }),
}
