/** Golden vectors: JSON files under fixtures/. */
import { readFileSync } from 'node:fs'

/** The parsed file; the caller gives its type. */
export function fixture<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8')) as T
}
