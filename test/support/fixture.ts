/** Golden vectors: JSON files under fixtures/. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** Reads and parses a file; the caller states its type. */
export function fixture<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8')) as T
}

/** The same for a compressed file. */
export function gzippedFixture<T>(path: string): T {
  const bytes = readFileSync(new URL(`../../fixtures/${path}`, import.meta.url))
  return JSON.parse(gunzipSync(bytes).toString('utf8')) as T
}
