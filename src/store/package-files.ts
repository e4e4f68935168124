/** The files that the package has beside its code: its manifest and the genesis of each network. */
import { readFileSync } from 'node:fs'
import type { BridgeName } from '../chain/network.ts'

/** Two folders up, both from here and from the chunks of the bundle, which are as deep. */
const PACKAGE = new URL('../../', import.meta.url)

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, PACKAGE), 'utf8'))
}

/** The package's manifest, not yet checked. */
export function readManifest(): unknown {
  return readJson('package.json')
}

/** The package's version, such as `1.2.3`. Checked without zod: the command prints it without loading libraries. */
export function packageVersion(): string {
  const manifest = readManifest()
  const isComplete = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  if (!isComplete || typeof manifest.version !== 'string') throw new Error('package.json has no version')
  return manifest.version
}

/** The genesis file of a network, not yet checked. */
export function readGenesisFile(chain: BridgeName): unknown {
  return readJson(`genesis/${chain}.json`)
}
