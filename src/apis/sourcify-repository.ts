/**
 * Sourcify's repository as files, which Otterscan reads (https://docs.sourcify.dev/docs/repository/sourcify-database):
 * `/contracts/<full_match|partial_match>/<chain id>/<address>/metadata.json` and `…/sources/<path>`.
 */
import { keccakHex } from '../encoding/hash.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import { knownAt } from './known-contract.ts'
import { type ApiReply, addressIn, read } from './request.ts'

const KINDS: Readonly<Record<string, 'exact' | 'partial'>> = { full_match: 'exact', partial_match: 'partial' }
const NOT_FOUND: ApiReply = { status: 404, body: { error: 'Not found' } }

/** The name of a source's file: that of its path, with `_` for characters that paths of URLs give a meaning to. */
function fileName(path: string): string {
  return path.replaceAll(/[@:]/g, '_')
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
  const wanted = decodedPath(rest.join('/'))
  for (const [path, { content }] of Object.entries(known.compilation.input.sources)) {
    if (content === undefined) continue
    // Newer repositories name a file by the hash of its content.
    const isIt = fileName(path) === wanted || keccakHex(new TextEncoder().encode(content)) === wanted
    if (isIt) return { status: 200, body: content, isText: true }
  }
  return NOT_FOUND
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
