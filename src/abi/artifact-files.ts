/** Artifacts from disk: a JSON file, a folder of them, or a Hardhat or Foundry project. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { NodeError } from '../errors.ts'
import { type Artifact, holdsAbi, readArtifact } from './artifact.ts'
import { holdsContracts, readBuildInfo } from './build-info.ts'
import { type AbiCodec, loadAbiCodec } from './codec.ts'

/** The folder of a project's artifacts in which the compiler's whole output stands. */
const BUILD_INFO = 'build-info'
/** Compiler folders without artifacts. */
const PASSED_OVER: ReadonlySet<string> = new Set([BUILD_INFO, 'cache', 'node_modules'])
/** Largest files that are read as an artifact, and as a build-info, bytes. */
const LARGEST = 33_554_432
const LARGEST_BUILD_INFO = 268_435_456

function refused(path: string, why: string): NodeError {
  return new NodeError('invalid-options', `Cannot read ABIs from ${path}: ${why}.`)
}

/** `Token.json`, or Foundry's `Token.0.8.24.json` when it compiles a contract more than once. */
function contractNameOf(file: string): string {
  return basename(file)
    .replace(/\.json$/i, '')
    .replace(/(\.\d+)+$/, '')
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const nested = entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        return PASSED_OVER.has(entry.name) || entry.name.startsWith('.') ? [] : filesIn(path)
      }
      return entry.name.endsWith('.json') && !entry.name.endsWith('.dbg.json') ? [path] : []
    })
  return (await Promise.all(nested)).flat()
}

/** Where a project's compiler leaves its artifacts; the folder itself when it is no project. */
async function artifactsFolder(folder: string): Promise<string> {
  const names = new Set(await readdir(folder))
  if (names.has('foundry.toml') && names.has('out')) return join(folder, 'out')
  const isHardhat = [...names].some((name) => name.startsWith('hardhat.config.'))
  return isHardhat && names.has('artifacts') ? join(folder, 'artifacts') : folder
}

/** The artifact of a file, or those of a build-info; none when its text has not what is `needed`. */
async function readOne(file: string, codec: AbiCodec, needed = ''): Promise<Artifact[]> {
  let json: unknown
  try {
    const text = await readFile(file, 'utf8')
    if (!text.includes(needed)) return []
    json = JSON.parse(text)
  } catch (error) {
    throw refused(file, error instanceof SyntaxError ? 'it is not JSON' : String(error))
  }
  if (!holdsAbi(json) && !holdsContracts(json)) throw refused(file, 'it holds no ABI')
  try {
    return holdsAbi(json) ? [readArtifact(json, codec, contractNameOf(file))] : readBuildInfo(json, codec)
  } catch (error) {
    throw refused(file, error instanceof Error ? error.message : String(error))
  }
}

/** In a folder, files that are not artifacts are skipped: they belong to other tools. */
async function readLeniently(
  file: string,
  codec: AbiCodec,
  { largest = LARGEST, needed = '' } = {},
): Promise<Artifact[]> {
  if ((await stat(file)).size > largest) return []
  try {
    return await readOne(file, codec, needed)
  } catch (error) {
    if (error instanceof NodeError) return []
    throw error
  }
}

const keyOf = ({ name, codeKey }: Artifact): string => `${name} ${codeKey}`

/** The artifacts of the build-infos beside a project's artifacts that have a layout, which Hardhat's artifacts have not. */
async function layoutsBeside(folder: string, codec: AbiCodec): Promise<Map<string, Artifact['layout']>> {
  const layouts = new Map<string, Artifact['layout']>()
  const beside = join(folder, BUILD_INFO)
  const names = await readdir(beside).catch(() => [])
  const rules = { largest: LARGEST_BUILD_INFO, needed: '"storageLayout"' }
  for (const name of names.filter((candidate) => candidate.endsWith('.json')).sort()) {
    for (const artifact of await readLeniently(join(beside, name), codec, rules)) {
      if (artifact.layout !== undefined) layouts.set(keyOf(artifact), artifact.layout)
    }
  }
  return layouts
}

async function readFolder(folder: string, codec: AbiCodec): Promise<Artifact[]> {
  const layouts = await layoutsBeside(folder, codec)
  const artifacts: Artifact[] = []
  for (const file of await filesIn(folder)) artifacts.push(...(await readLeniently(file, codec)))
  return artifacts.map((artifact) => {
    const layout = artifact.layout ?? layouts.get(keyOf(artifact))
    return layout === undefined ? artifact : { ...artifact, layout }
  })
}

/** Reads all artifacts under these paths. Throws `invalid-options` naming a path that is missing or a file that holds none. */
export async function readArtifacts(paths: readonly string[]): Promise<Artifact[]> {
  const codec = await loadAbiCodec()
  const artifacts: Artifact[] = []
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    if (found === undefined) throw refused(path, 'there is no such file or folder')
    const read = found.isDirectory() ? readFolder(await artifactsFolder(path), codec) : readOne(path, codec)
    artifacts.push(...(await read))
  }
  return artifacts
}
