/** Data of the reference node in fixtures/reference-node. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** The content of a file, named without its ending. */
export function referenceData<T>(name: string): T {
  const file = new URL(`../../fixtures/reference-node/${name}.json.gz`, import.meta.url)
  return JSON.parse(gunzipSync(readFileSync(file)).toString())
}
