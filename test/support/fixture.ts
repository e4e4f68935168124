/** Golden vectors: JSON files under fixtures/. */
import { readFileSync } from 'node:fs'

/** Reads and parses a file; the caller states its type. */
export function fixture<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8')) as T
}
