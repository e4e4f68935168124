/** Finds broken links and citations in documents and comments. */
import { posix } from 'node:path'

/** Texts by path from the root of the repository, with `/` between the parts. */
export type Texts = ReadonlyMap<string, string>

/** One broken link or citation. */
export interface Finding {
  readonly path: string
  /** The link or citation as written in the text. */
  readonly cited: string
}

/** Blanks code blocks and, unless `keepInline`, inline code: neither has headings or links. */
function withoutCode(markdown: string, keepInline = false): string {
  const lines = markdown.split('\n')
  let fence: string | undefined
  for (const [i, line] of lines.entries()) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined ? mark === undefined : !line.trim().startsWith(fence)) {
      if (fence !== undefined) lines[i] = ''
      continue
    }
    fence = fence === undefined ? mark : undefined
    lines[i] = ''
  }
  const text = lines.join('\n')
  return keepInline ? text : text.replace(/(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g, '')
}

/** The anchor that GitHub gives to a heading that no other heading of the page equals. */
export function headingSlug(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{Nd}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** All anchors of a page: those of its headings, numbered from the second equal heading on, and explicit ones. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading] of withoutCode(markdown, true).matchAll(/^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/gm)) {
    const slug = headingSlug(heading ?? '')
    let anchor = slug
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`
    anchors.add(anchor)
  }
  for (const [, id] of withoutCode(markdown).matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id ?? '')
  return anchors
}

const LINKS = [
  /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g,
  /^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/gm,
  /<(?:img|a|source)\s[^>]*?(?:src|srcset|href)="([^"]+)"/g,
]

/** Does this file exist, or a folder of this name? */
export type Exists = (path: string) => boolean

type Anchors = ReadonlyMap<string, ReadonlySet<string>>

function anchorsByPage(pages: Texts): Anchors {
  return new Map([...pages].map(([path, text]) => [path, anchorsOf(text)]))
}

function leads(target: string, from: string, anchors: Anchors, exists: Exists): boolean {
  const [file = '', anchor] = target.split('#', 2)
  const path = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), decodeURI(file)))
  return exists(path) && (anchor === undefined || anchors.get(path)?.has(anchor) !== false)
}

/** Relative links of Markdown pages whose file or anchor does not exist. */
export function brokenLinks(pages: Texts, exists: Exists): Finding[] {
  const anchors = anchorsByPage(pages)
  const findings: Finding[] = []
  for (const [path, text] of pages) {
    const prose = withoutCode(text)
    for (const link of LINKS) {
      for (const [, target = ''] of prose.matchAll(link)) {
        if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//')) continue
        if (!leads(target, path, anchors, exists)) findings.push({ path, cited: target })
      }
    }
  }
  return findings
}

const CITATION =
  /(?<![\w/.-])(?:\.\.\/)*(?:docs|fixtures|packages)\/[\w./-]+\.md(?:#[\p{L}\p{M}\p{Nd}\p{Pc}-]+)?/gu

/** Citations of the form `docs/page.md#anchor`, from the root or `../../docs/page.md`, whose page or heading is missing. */
export function brokenCitations(texts: Texts, pages: Texts): Finding[] {
  const anchors = anchorsByPage(pages)
  const findings: Finding[] = []
  for (const [path, text] of texts) {
    for (const [cited] of text.matchAll(CITATION)) {
      const [page = '', anchor] = cited.replace(/^(?:\.\.\/)+/, '').split('#', 2)
      const known = anchors.get(page)
      if (known === undefined || (anchor !== undefined && !known.has(anchor))) findings.push({ path, cited })
    }
  }
  return findings
}

/** Documents that are not in the repository, in the form of earlier citations. */
const ABSENT_DOCUMENTS = [
  /\bprotocol (?:sections? |§ ?)?\d{1,2}(?:\.\d{1,2})?(?![\w.]*\d)/gi,
  /\bprotocol\s+(?:\*|\/\/)\s+\d{1,2}\.\d{1,2}/gi,
  /(?<![\w-])rpc-methods(?:\.md)?(?![\w-])/gi,
  /(?<![\w/.-])(?:service|decisions|unitrie|devtools)\.md\b/gi,
  /(?<![\w-])(?:ethereumjs-notes|chain-protocol)(?:\.md)?\b/gi,
  /(?:\.\.|work)\/shared\b/g,
]

/** Citations of documents that are not in the repository. */
export function absentDocuments(texts: Texts): Finding[] {
  return [...texts].flatMap(([path, text]) =>
    ABSENT_DOCUMENTS.flatMap((document) => [...text.matchAll(document)].map(([cited]) => ({ path, cited }))),
  )
}
