/** What must not be read over a shoulder: keys in addresses and passwords, in errors and in the list of processes. */

/** Flags whose values can hold a secret. */
const SECRET_FLAGS: ReadonlySet<string> = new Set(['--url', '--redis', '--mnemonic'])
const HIDDEN = '***'

/** An address without user, password, and path, whose last segment may be an API key. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return pathname === '/' ? origin : `${origin}/${HIDDEN}`
}

/** The words of a command line with the values of such flags left out; `undefined` when it has none. */
export function shownCommandLine(words: readonly string[]): string | undefined {
  const shown = words.map((word, i) => {
    if (SECRET_FLAGS.has(words[i - 1] ?? '')) return HIDDEN
    const [flag = '', ...value] = word.split('=')
    return value.length > 0 && SECRET_FLAGS.has(flag) ? `${flag}=${HIDDEN}` : word
  })
  return shown.some((word, i) => word !== words[i]) ? shown.join(' ') : undefined
}
