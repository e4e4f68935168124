/** The explorer's files: the page for browsers that ask for HTML, and its assets under `ui/` by content hash. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built explorer of the package; two folders up, from here as from the chunks of the bundle. */
const BUILT = fileURLToPath(new URL('../../dist/ui/', import.meta.url))
const PAGE = 'index.html'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The hashes of a page's own styles as a policy names them. */
function styleHashes(html: string): string[] {
  return [...html.matchAll(/<style>([^<]*)<\/style>/g)].map(
    ([, css = '']) => `'sha256-${createHash('sha256').update(css).digest('base64')}'`,
  )
}

/** Only files of this server and the styles of the page itself, no inline script, and no frame around the page. */
function policyOf(html: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...styleHashes(html)].join(' '),
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** `no-referrer` since the path of the page may hold an API key. */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** The path of an asset, after a key if there is one. */
const ASSET = /^(.*)\/ui\/([\w.-]+)$/

/** Splits the path of an asset into its prefix, such as `/<key>`, and the rest; `undefined` for other paths. */
export function assetPath(path: string): { readonly before: string; readonly page: string } | undefined {
  const [, before, name] = ASSET.exec(path) ?? []
  return before === undefined ? undefined : { before, page: `/ui/${name}` }
}

/** Does the Accept header name HTML? Wildcards do not count: clients other than browsers send them. */
function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /(^|[,\s])text\/html\s*($|[,;])/i.test(headers.accept ?? '')
}

/** Content codings of the built files by the ending of their names, the smaller one first. */
const CODINGS = [
  { coding: 'br', ending: 'br' },
  { coding: 'gzip', ending: 'gz' },
] as const
type Coding = (typeof CODINGS)[number]['coding']

interface File {
  readonly type: string
  readonly bytes: Buffer
  /** What the build has compressed of it. */
  readonly coded: Readonly<Partial<Record<Coding, Buffer>>>
}

/** The first coding that the browser accepts and the file has; a quality of 0 excludes it. */
function codingFor({ headers }: IncomingMessage, { coded }: File): Coding | undefined {
  const accepted = String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => !/;\s*q=0(\.0*)?$/.test(entry))
    .map((entry) => entry.replace(/\s*;.*/, ''))
  return CODINGS.find(({ coding }) => coded[coding] !== undefined && accepted.includes(coding))?.coding
}

/** The files of a folder by name. Throws when it cannot be read. */
function filesOf(folder: string): Map<string, File> {
  const files = new Map<string, File>()
  const names = new Set(readdirSync(folder))
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) continue
    const coded = CODINGS.map(({ coding, ending }) => ({ coding, file: `${name}.${ending}` }))
      .filter(({ file }) => names.has(file))
      .map(({ coding, file }) => [coding, readFileSync(join(folder, file))])
    files.set(name, { type, bytes: readFileSync(join(folder, name)), coded: Object.fromEntries(coded) })
  }
  return files
}

/** The explorer of a server. */
export class Explorer {
  readonly #page: File
  readonly #assets: ReadonlyMap<string, File>
  readonly #headers: Readonly<Record<string, string>>

  constructor(page: File, assets: ReadonlyMap<string, File>) {
    this.#page = page
    this.#assets = assets
    this.#headers = { 'Content-Security-Policy': policyOf(page.bytes.toString()), ...HEADERS }
  }

  /**
   * Sends the page or the asset that a GET asks for; false when it asks for neither. `path` has no key, `asked` is the
   * path of the request.
   */
  answer(request: IncomingMessage, response: ServerResponse, path: string, asked: string): boolean {
    if (request.method !== 'GET') return false
    if (path === '/' && acceptsHtml(request)) {
      if (asked.endsWith('/')) return this.#send(request, response, this.#page, 'no-store')
      // The page names its assets relative to the key.
      const Location = `${asked.slice(asked.lastIndexOf('/') + 1)}/`
      response.writeHead(308, { ...this.#headers, Location }).end()
      return true
    }
    const file = path.startsWith('/ui/') ? this.#assets.get(path.slice('/ui/'.length)) : undefined
    return file !== undefined && this.#send(request, response, file, 'private, max-age=31536000, immutable')
  }

  #send(request: IncomingMessage, response: ServerResponse, file: File, caching: string): true {
    const coding = codingFor(request, file)
    const bytes = (coding && file.coded[coding]) ?? file.bytes
    for (const [name, value] of Object.entries(this.#headers)) response.setHeader(name, value)
    response.setHeader('Cache-Control', caching)
    response.setHeader('Content-Type', file.type)
    response.setHeader('Vary', 'Accept-Encoding')
    if (coding !== undefined) response.setHeader('Content-Encoding', coding)
    response.setHeader('Content-Length', bytes.length)
    response.end(bytes)
    return true
  }
}

/** Reads the built explorer; `undefined` when this checkout has not been built. */
export function openExplorer(folder: string = BUILT): Explorer | undefined {
  let files: Map<string, File>
  try {
    files = filesOf(folder)
  } catch {
    return undefined
  }
  const page = files.get(PAGE)
  if (page === undefined) return undefined
  files.delete(PAGE)
  return new Explorer(page, files)
}
