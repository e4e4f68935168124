/** Compilations from disk: the build-infos of a Hardhat or Foundry project, and Foundry's artifacts with their sources. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { messageOf } from '../errors.ts'
import type { Compilation } from './compilation.ts'
import {
  artifactMetadata,
  hasHash,
  holdsCompilation,
  LONGEST_COMPILATION,
  mergeCompilations,
  readCompilation,
  readFoundryArtifact,
} from './read-compilation.ts'

const BUILD_INFO = 'build-info'
/** Hardhat 3 writes the input of `<id>.output.json` to `<id>.json`. */
const OUTPUT = '.output.json'
/** Largest file that is read, bytes; what nobody reads back is dropped afterwards. */
const LARGEST = 4 * LONGEST_COMPILATION
const PASSED_OVER: ReadonlySet<string> = new Set(['cache', 'node_modules', BUILD_INFO])

/** Compilations, and the files that look like some but cannot be read. */
export interface FoundCompilations {
  readonly compilations: readonly Compilation[]
  readonly faults: readonly string[]
}

async function jsonIn(file: string): Promise<unknown> {
  if ((await stat(file)).size > LARGEST) throw new Error(`it is larger than ${LARGEST} bytes`)
  return JSON.parse(await readFile(file, 'utf8'))
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort()
}

/** The JSON of a build-info with its output, which Hardhat 3 has in a file beside it. */
async function buildInfo(file: string): Promise<unknown> {
  const json = await jsonIn(file)
  if (holdsCompilation(json)) return json
  const output = await jsonIn(`${file.slice(0, -'.json'.length)}${OUTPUT}`).catch(() => undefined)
  if (typeof json !== 'object' || typeof output !== 'object' || output === null) return undefined
  return { ...json, output: 'output' in output ? output.output : undefined }
}

async function ofBuildInfos(folder: string, faults: string[]): Promise<Compilation[]> {
  const found: Compilation[] = []
  for (const name of await namesIn(folder)) {
    if (!name.endsWith('.json') || name.endsWith(OUTPUT)) continue
    const file = join(folder, name)
    try {
      const json = await buildInfo(file)
      if (holdsCompilation(json)) found.push(readCompilation(json))
    } catch (error) {
      faults.push(`${file}: ${messageOf(error)}`)
    }
  }
  return found
}

/** The nearest folder above that has a file of Foundry's settings: paths of sources are relative to it. */
async function projectOf(folder: string): Promise<string | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if ((await namesIn(at)).includes('foundry.toml')) return at
    if (at === dirname(at)) return undefined
  }
}

/** The sources of an artifact that the project still has, by their hashes. */
async function contentsOf(
  sources: ReadonlyMap<string, { readonly hash?: string; readonly content?: string }>,
  root: string,
): Promise<Map<string, string>> {
  const contents = new Map<string, string>()
  for (const [path, { hash, content }] of sources) {
    // A path that leads out of the project is no source of it.
    const isInside = !isAbsolute(path) && join(root, path).startsWith(join(root, sep))
    const text =
      content ?? (isInside ? await readFile(join(root, path), 'utf8').catch(() => undefined) : undefined)
    if (text !== undefined && (hash === undefined || hasHash(text, hash))) contents.set(path, text)
  }
  return contents
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const nested = entries.map(async (entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return PASSED_OVER.has(entry.name) ? [] : filesUnder(path)
    return entry.name.endsWith('.json') && !entry.name.endsWith('.dbg.json') ? [path] : []
  })
  return (await Promise.all(nested)).flat().sort()
}

/** What Foundry's artifacts hold of compilations, merged by compiler and settings. */
async function ofFoundry(folder: string, faults: string[]): Promise<Compilation[]> {
  const root = await projectOf(folder)
  if (root === undefined) return []
  const found: Compilation[] = []
  for (const file of await filesUnder(folder)) {
    try {
      const json = await jsonIn(file)
      const metadata = artifactMetadata(json)
      if (metadata === undefined) continue
      found.push(readFoundryArtifact(json, await contentsOf(metadata.sources, root)))
    } catch (error) {
      faults.push(`${file}: ${messageOf(error)}`)
    }
  }
  return mergeCompilations(found)
}

/** The folder of artifacts of a project, or the folder itself. */
async function artifactsFolder(folder: string): Promise<string> {
  const names = await namesIn(folder)
  if (names.includes('foundry.toml') && names.includes('out')) return join(folder, 'out')
  const isHardhat = names.some((name) => name.startsWith('hardhat.config.'))
  return isHardhat && names.includes('artifacts') ? join(folder, 'artifacts') : folder
}

async function ofFolder(given: string, faults: string[]): Promise<Compilation[]> {
  const folder = await artifactsFolder(given)
  const inside = basename(folder) === BUILD_INFO ? folder : join(folder, BUILD_INFO)
  const infos = await ofBuildInfos(inside, faults)
  return infos.length > 0 ? infos : ofFoundry(folder, faults)
}

/** All compilations under paths: of projects, of folders of artifacts, of build-infos. Other files have none. */
export async function readCompilations(paths: readonly string[]): Promise<FoundCompilations> {
  const faults: string[] = []
  const compilations: Compilation[] = []
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) compilations.push(...(await ofFolder(path, faults)))
    else if (found?.isFile()) {
      const json = await buildInfo(path).catch(() => undefined)
      try {
        if (holdsCompilation(json)) compilations.push(readCompilation(json))
      } catch (error) {
        faults.push(`${path}: ${messageOf(error)}`)
      }
    }
  }
  return { compilations, faults }
}
