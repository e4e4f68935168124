/** The files that the package has beside its code: its manifest and the genesis of each network. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { ChainName } from '../chain/activations.ts'

/** Two folders up, both from here and from the chunks of the bundle, which are as deep. */
const PACKAGE = new URL('../../', import.meta.url)

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, PACKAGE), 'utf8'))
}

const manifest = z.object({ version: z.string() })

/** The package's version, such as `1.2.3`. */
export function packageVersion(): string {
  return manifest.parse(readJson('package.json')).version
}

/** The genesis file of a network, not yet checked. */
export function readGenesisFile(chain: ChainName): unknown {
  return readJson(`genesis/${chain}.json`)
}
