/** The files that the package has beside its code: its manifest, the genesis of each network, its documents. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
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

const SOURCES_PACKAGE = 'tandem-predeploys'

/** The folder of the package with the sources of predeployed contracts: installed beside this one, or in its repository. */
function sourcesFolder(): URL | undefined {
  for (const base of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return new URL(
        'sources/',
        pathToFileURL(createRequire(base).resolve(`${SOURCES_PACKAGE}/package.json`)),
      )
    } catch {
      // Not installed there.
    }
  }
  const folder = new URL(`packages/${SOURCES_PACKAGE}/sources/`, PACKAGE)
  return existsSync(folder) ? folder : undefined
}

/**
 * The build-info with the sources of predeployed contracts, not yet checked. `undefined` where the package that has them is
 * not installed, or has none of that name.
 */
export function readPredeploySources(name: string): unknown {
  const folder = sourcesFolder()
  const file = folder && new URL(`${name}.json.br`, folder)
  if (file === undefined || !existsSync(file)) return undefined
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

/** Documents for those who change the code, which the package does not have. */
const UNSHIPPED = 'internals/'

/** The documents by path, such as `README.md` and `docs/guides/forking.md`. */
export function documentPaths(): readonly string[] {
  const names = readdirSync(new URL('docs/', PACKAGE), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md') && !name.startsWith(UNSHIPPED))
  return ['README.md', ...names.sort().map((name) => `docs/${name}`)]
}

/** The text of one of those documents. */
export function readDocument(path: string): string {
  return readFileSync(new URL(path, PACKAGE), 'utf8')
}
