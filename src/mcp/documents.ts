/** The package's documents in Markdown, and the list of them as llms.txt (https://llmstxt.org). */
import { documentPaths, readDocument } from '../store/package-files.ts'

/** One document. */
export interface Document {
  /** Below the node's address, such as `docs/guides/forking.md`. */
  readonly path: string
  readonly title: string
  /** Its first sentence. */
  readonly summary: string
}

/** The sections of llms.txt, by the folder of their documents; the first that fits counts. */
const SECTIONS = [
  ['Guides', /^docs\/guides\//],
  ['JSON-RPC methods', /^docs\/methods\//],
  ['Reference', /^/],
] as const

/** A line without the marks of Markdown: links by their text, no emphasis. */
const plain = (line: string): string => line.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*\*/g, '')

/** The lines of a document's first paragraph below its title. */
function firstParagraph(lines: readonly string[]): string {
  const isText = (line: string) => /^[\p{L}`*[]/u.test(line)
  const start = lines.findIndex(isText)
  const rest = start === -1 ? [] : lines.slice(start)
  const end = rest.findIndex((line) => !isText(line))
  return plain((end === -1 ? rest : rest.slice(0, end)).join(' '))
}

function describe(path: string): Document {
  const lines = readDocument(path).split('\n')
  const at = lines.findIndex((line) => line.startsWith('# '))
  const paragraph = firstParagraph(lines.slice(at + 1))
  const [sentence = ''] = /^.*?[.:](?=\s|$)/.exec(paragraph) ?? [paragraph]
  return { path, title: lines[at]?.slice(2) ?? path, summary: sentence }
}

let described: readonly Document[] | undefined

/** All documents; read once. */
export function documents(): readonly Document[] {
  described ??= documentPaths().map(describe)
  return described
}

/** The Markdown of a document; `undefined` where there is none at this path. */
export function documentAt(path: string): string | undefined {
  return documents().some((one) => one.path === path) ? readDocument(path) : undefined
}

/** The list of documents as llms.txt; links are relative to the node's address. */
export function llmsText(): string {
  const left = new Set(documents())
  const sections = SECTIONS.flatMap(([title, fits]) => {
    const own = [...left].filter(({ path }) => fits.test(path))
    for (const one of own) left.delete(one)
    return [`## ${title}`, '', ...own.map(linkTo), '']
  })
  const head = [
    '# Tandem',
    '',
    '> A whole node of a merge-mined, EVM-compatible chain (Rootstock) in one Node.js process: JSON-RPC, tracing, simulation, forks, a test chain and the peg with Bitcoin.',
    '',
    'This node answers JSON-RPC 2.0 by POST to its address; `GET openrpc.json` describes its methods. With the setting `mcp` it serves tools for agents (Model Context Protocol) at `mcp`: see docs/guides/agents.md.',
    '',
  ]
  return [...head, ...sections].join('\n')
}

const linkTo = ({ path, title, summary }: Document): string =>
  `- [${title}](${path})${summary === '' ? '' : `: ${summary}`}`
