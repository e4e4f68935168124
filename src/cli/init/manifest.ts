/** Members of a `package.json`, added to its text: the rest keeps its form. */
import { applyEdits, modify } from 'jsonc-parser'
import { lineEnd } from './change.ts'

const BYTE_ORDER_MARK = '\ufeff'

/** The content of a manifest, which may begin with a byte order mark, as npm reads it. */
export function parseManifest(text: string): unknown {
  return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
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
  if (text.startsWith(BYTE_ORDER_MARK)) {
    return `${BYTE_ORDER_MARK}${withMember(text.slice(1), section, name, value)}`
  }
  const members = JSON.parse(text)[section] ?? {}
  if (Object.hasOwn(members, name)) return text
  const later = Object.keys(members).findIndex((key) => key > name)
  const edits = modify(text, [section, name], value, {
    formattingOptions: { insertSpaces: !/^\t/m.test(text), tabSize: indentOf(text), eol: lineEnd(text) },
    ...(section === 'devDependencies' && later >= 0 && { getInsertionIndex: () => later }),
  })
  return applyEdits(text, edits)
}

/** The spaces before a member of a text. */
function indentOf(text: string): number {
  return /^ +(?=")/m.exec(text)?.[0].length ?? 2
}
