/** Artifacts from disk: a JSON file, a folder of them, or a Hardhat or Foundry project. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { NodeError } from '../errors.ts'
import { type Artifact, holdsAbi, readArtifact } from './artifact.ts'
import { type AbiCodec, loadAbiCodec } from './codec.ts'

/** Compiler folders without artifacts. */
const PASSED_OVER: ReadonlySet<string> = new Set(['build-info', 'cache', 'node_modules'])
/** Largest file that is read as an artifact, bytes. */
const LARGEST = 33_554_432

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

async function readOne(file: string, codec: AbiCodec): Promise<Artifact> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw refused(file, error instanceof SyntaxError ? 'it is not JSON' : String(error))
  }
  if (!holdsAbi(json)) throw refused(file, 'it holds no ABI')
  try {
    return readArtifact(json, codec, contractNameOf(file))
  } catch (error) {
    throw refused(file, error instanceof Error ? error.message : String(error))
  }
}

/** In a folder, files that are not artifacts are skipped: they belong to other tools. */
async function readLeniently(file: string, codec: AbiCodec): Promise<Artifact[]> {
  if ((await stat(file)).size > LARGEST) return []
  try {
    return [await readOne(file, codec)]
  } catch (error) {
    if (error instanceof NodeError) return []
    throw error
  }
}

/** Reads all artifacts under these paths. Throws `invalid-options` naming a path that is missing or a file that holds none. */
export async function readArtifacts(paths: readonly string[]): Promise<Artifact[]> {
  const codec = await loadAbiCodec()
  const artifacts: Artifact[] = []
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    if (found === undefined) throw refused(path, 'there is no such file or folder')
    if (!found.isDirectory()) {
      artifacts.push(await readOne(path, codec))
      continue
    }
    for (const file of await filesIn(await artifactsFolder(path))) {
      artifacts.push(...(await readLeniently(file, codec)))
    }
  }
  return artifacts
}
