/** Hides keys and passwords in error messages and in the list of processes. */
import type { Command, Option } from 'commander'

const HIDDEN = '***'

/** An address without user, password, and path, whose last segment may be an API key. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return pathname === '/' ? origin : `${origin}/${HIDDEN}`
}

const secretOptions = new WeakSet<Option>()

/** Notes that the value of an option can be a secret, or have one in it. */
export function hidden(option: Option): Option {
  secretOptions.add(option)
  return option
}

/** The options of a command and of those below it. */
function optionsOf(command: Command): Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)]
}

/** Does the next argument belong to these short flags, of which the last one has a secret value? */
const endsIn = (arg: string, short: ReadonlySet<string>): boolean =>
  /^-[a-z]+$/i.test(arg) && short.has(`-${arg.at(-1)}`)

/** An argument without the secret that it may hold itself: `--flag=value`, `-fvalue`. */
function shownArgument(arg: string, secret: ReadonlySet<string>, known: ReadonlySet<string>): string {
  const [flag = ''] = arg.split('=')
  if (arg.startsWith('--')) {
    // A misspelt flag may have a secret as its value too.
    return flag !== arg && (secret.has(flag) || !known.has(flag)) ? `${flag}=${HIDDEN}` : arg
  }
  const at = arg.startsWith('-') ? [...arg.slice(1)].findIndex((letter) => secret.has(`-${letter}`)) + 1 : 0
  return at > 0 && at < arg.length - 1 ? `${arg.slice(0, at + 1)}${HIDDEN}` : arg
}

/** A command line, of which the flags are not known yet, without anything that follows the first of them. */
export function beginningOf(args: readonly string[]): string {
  const first = args.findIndex((arg) => arg.startsWith('-'))
  return first < 0 ? args.join(' ') : [...args.slice(0, first), HIDDEN].join(' ')
}

/** A command line with the values of the command's hidden options hidden; arguments behind `--` are another program's. */
export function shownCommandLine(args: readonly string[], command: Command): string {
  const options = optionsOf(command)
  const flagsOf = (list: readonly Option[]) =>
    new Set(list.flatMap(({ long, short }) => [long ?? '', short ?? '']).filter((flag) => flag !== ''))
  const known = flagsOf(options)
  const secret = flagsOf(options.filter((option) => secretOptions.has(option)))
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const shown = args.map((arg, i) => {
    if (i >= end) return arg
    const before = args[i - 1] ?? ''
    if (secret.has(before) || endsIn(before, secret)) return HIDDEN
    return shownArgument(arg, secret, known)
  })
  return shown.join(' ')
}
