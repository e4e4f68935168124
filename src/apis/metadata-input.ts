/** Compiler input out of metadata and the sources that it names by their hashes. */
import { messageOf } from '../errors.ts'
import { qualifiedName } from '../sources/compilation.ts'
import { hasHash, readMetadata } from '../sources/read-compilation.ts'
import { ApiError } from './request.ts'
import type { StandardInput } from './standard-input.ts'

/** What is compiled, and what of it is verified. */
export interface MetadataInput {
  readonly input: StandardInput
  /** `path:name`. */
  readonly contract: string
  readonly compilerVersion: string
}

/** The input of the compiler that metadata describes, JSON or its text, with sources by path or by hash. Throws `ApiError`. */
export function inputOfMetadata(json: unknown, sources: Readonly<Record<string, string>>): MetadataInput {
  let metadata: ReturnType<typeof readMetadata>
  try {
    metadata = readMetadata(typeof json === 'string' ? JSON.parse(json) : json)
  } catch (error) {
    throw new ApiError(`The metadata cannot be read: ${messageOf(error)}`, { code: 'invalid_metadata' })
  }
  const contents: Record<string, { content: string }> = {}
  for (const [path, { hash, content }] of metadata.sources) {
    const isIt = (text: string) => hash === undefined || hasHash(text, hash)
    const named = Object.hasOwn(sources, path) ? sources[path] : undefined
    const found = content ?? [...(named === undefined ? [] : [named]), ...Object.values(sources)].find(isIt)
    if (found === undefined || !isIt(found)) {
      throw new ApiError(`The source ${path} with the hash of the metadata is missing`, {
        code: 'missing_source',
      })
    }
    contents[path] = { content: found }
  }
  const { language, settings, compilerVersion } = metadata
  return {
    input: { language, sources: contents, settings: { ...settings } },
    contract: qualifiedName(metadata),
    compilerVersion,
  }
}
