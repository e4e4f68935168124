/** Members of a `package.json`, added to its text: the rest keeps its form. */

/** The lines of a section: that of its name, and that of its closing brace. */
function sectionAt(lines: readonly string[], name: string): { first: number; last: number } | undefined {
  const first = lines.findIndex((line) => new RegExp(`^\\s*"${name}"\\s*:\\s*\\{\\s*$`).test(line))
  const last = lines.findIndex((line, at) => at > first && /^\s*\}/.test(line))
  return first < 0 || last < 0 ? undefined : { first, last }
}

const keyOf = (line: string | undefined): string => /^\s*"([^"]+)"/.exec(line ?? '')?.[1] ?? ''

/** The text as JSON would be written anew: for forms whose lines cannot be extended. */
function rewritten(text: string, section: string, name: string, value: string): string {
  const manifest = JSON.parse(text)
  const members = Object.entries({ ...manifest[section], [name]: value })
  const sorted = section === 'scripts' ? members : members.sort(([one], [other]) => (one < other ? -1 : 1))
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  '
  return `${JSON.stringify({ ...manifest, [section]: Object.fromEntries(sorted) }, undefined, indent)}\n`
}

/**
 * The text of a manifest with a member in one of its sections; dependencies stay in the order of their names. A member
 * that is there already keeps its value.
 */
export function withMember(
  text: string,
  section: 'scripts' | 'devDependencies',
  name: string,
  value: string,
): string {
  if (JSON.parse(text)[section]?.[name] !== undefined) return text
  const lines = text.split('\n')
  const place = sectionAt(lines, section)
  const isSimple = place !== undefined && place.last > place.first + 1
  if (!isSimple) return rewritten(text, section, name, value)
  const { first, last } = place
  const later = lines.findIndex((line, at) => at > first && at < last && keyOf(line) > name)
  const at = section === 'scripts' || later < 0 ? last : later
  const indent = /^\s*/.exec(lines[first + 1] ?? '')?.[0] ?? ''
  const added = `${indent}${JSON.stringify(name)}: ${JSON.stringify(value)}${at === last ? '' : ','}`
  const above = lines.slice(0, at)
  if (at === last) above[at - 1] = `${(above[at - 1] ?? '').replace(/,?\s*$/, '')},`
  return [...above, added, ...lines.slice(at)].join('\n')
}
