/** Hides keys and passwords in error messages and in the list of processes. */

/** Flags whose values can hold a secret. */
const SECRET_FLAGS: ReadonlySet<string> = new Set([
  '--url',
  '--redis',
  '--mnemonic',
  '--fork',
  '--fork-header',
  '--fork-url',
  '--rpc-url',
  '--fork-headers',
])
const HIDDEN = '***'

/** An address without user, password, and path, whose last segment may be an API key. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return pathname === '/' ? origin : `${origin}/${HIDDEN}`
}

/** A command line with the values of such flags hidden; `undefined` when it has none. */
export function shownCommandLine(args: readonly string[]): string | undefined {
  const shown = args.map((arg, i) => {
    if (SECRET_FLAGS.has(args[i - 1] ?? '')) return HIDDEN
    const [flag = '', ...value] = arg.split('=')
    return value.length > 0 && SECRET_FLAGS.has(flag) ? `${flag}=${HIDDEN}` : arg
  })
  return shown.some((arg, i) => arg !== args[i]) ? shown.join(' ') : undefined
}
