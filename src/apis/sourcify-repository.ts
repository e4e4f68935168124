/**
 * Sourcify's repository as files, which Otterscan reads (https://docs.sourcify.dev/docs/repository/sourcify-database):
 * `/contracts/<full_match|partial_match>/<chain id>/<address>/metadata.json` and `…/sources/<path>`.
 */
import { keccakHex } from '../encoding/hash.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { Compilation } from '../sources/compilation.ts'
import { knownAt } from './known-contract.ts'
import { type ApiReply, addressIn, read } from './request.ts'

const KINDS: Readonly<Record<string, 'exact' | 'partial'>> = { full_match: 'exact', partial_match: 'partial' }
const NOT_FOUND: ApiReply = { status: 404, body: { error: 'Not found' } }

/** The name of a source's file: its path, with `_` for characters that clients replace, each by its own rule. */
function fileName(path: string): string {
  return path.replaceAll(/[^\w./-]/g, '_')
}

/** Answers a GET for a file; `parts` are those of its path behind `contracts`. */
export async function repositoryFile(node: CurrentEngine, parts: readonly string[]): Promise<ApiReply> {
  const [match = '', chain, text, folder, ...rest] = parts
  const address = addressIn(text)
  const kind = Object.hasOwn(KINDS, match) ? KINDS[match] : undefined
  if (address === undefined || kind === undefined || chain !== String(node.engine.config.chainId)) {
    return NOT_FOUND
  }
  const known = await read(node, (engine) => knownAt(engine, address))
  if (known?.match.kind !== kind) return NOT_FOUND
  const { metadata } = known.contract
  if (folder === 'metadata.json' && rest.length === 0 && metadata !== undefined) {
    return { status: 200, body: JSON.parse(metadata) }
  }
  if (folder !== 'sources') return NOT_FOUND
  const content = contentOf(known.compilation.input.sources, decodedPath(rest.join('/')))
  return content === undefined ? NOT_FOUND : { status: 200, body: content, isText: true }
}

/** The source of a file: by its path, by its name, or as newer repositories have it by the hash of its content. */
function contentOf(sources: Compilation['input']['sources'], wanted: string): string | undefined {
  const own = Object.hasOwn(sources, wanted) ? sources[wanted]?.content : undefined
  if (own !== undefined) return own
  for (const [path, { content }] of Object.entries(sources)) {
    if (content === undefined) continue
    const isIt =
      fileName(path) === fileName(wanted) || keccakHex(new TextEncoder().encode(content)) === wanted
    if (isIt) return content
  }
  return undefined
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
