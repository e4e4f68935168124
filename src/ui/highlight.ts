/**
 * Source text in coloured parts: Solidity, Yul and Vyper in one pass. Own code: highlight.js has no grammar of Solidity and its
 * core alone takes 8 kB (gzip), as much as the page of an address.
 */

/** What a part is; text without a kind is plain. */
export type PartKind = 'keyword' | 'type' | 'comment' | 'text' | 'number'

/** A part of a line. */
export interface Part {
  readonly kind: PartKind | undefined
  readonly text: string
}

const KEYWORDS = new Set(
  `abstract anonymous as assembly break calldata case catch constant constructor continue contract default delete do else
  emit enum error event external fallback false final for from function global hex if immutable import indexed interface
  internal is layout leave let library mapping memory modifier new override payable pragma private public pure receive
  return returns revert struct switch storage this throw transient true try type unchecked unicode using var view virtual while
  def self not and or in pass assert raise class elif log interface implements exports uses initializes`.split(
    /\s+/,
  ),
)
const TYPE = /^(u?int\d*|bytes\d*|u?fixed\w*|address|bool|string|decimal|HashMap|DynArray|Bytes|String)$/

/** Comments, texts, numbers and words, in the order in which they are tried. */
const TOKEN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|#[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(?<number>\b(?:0x[\da-fA-F_]+|\d[\d_.]*(?:e-?\d+)?)\b)|(?<word>[A-Za-z_$][\w$]*)/g

function kindOf({
  comment,
  text,
  number,
  word = '',
}: Record<string, string | undefined>): PartKind | undefined {
  if (comment !== undefined) return 'comment'
  if (text !== undefined) return 'text'
  if (number !== undefined) return 'number'
  if (KEYWORDS.has(word)) return 'keyword'
  return TYPE.test(word) ? 'type' : undefined
}

/** The lines of a source, each in its parts. */
export function highlighted(source: string): Part[][] {
  const lines: Part[][] = [[]]
  function add(kind: PartKind | undefined, text: string): void {
    for (const [i, piece] of text.split('\n').entries()) {
      if (i > 0) lines.push([])
      if (piece !== '') lines.at(-1)?.push({ kind, text: piece })
    }
  }
  let at = 0
  const text = source.replaceAll('\r\n', '\n')
  for (const match of text.matchAll(TOKEN)) {
    const kind = kindOf(match.groups ?? {})
    if (kind === undefined) continue
    add(undefined, text.slice(at, match.index))
    add(kind, match[0])
    at = match.index + match[0].length
  }
  add(undefined, text.slice(at))
  return lines
}
