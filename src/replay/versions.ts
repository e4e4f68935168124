/** Installed versions of the node, by their number or their folder. */
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { messageOf, NodeError } from '../errors.ts'
import type { NodeMaker } from './target.ts'

const Exports = z.object({ createNode: z.custom<NodeMaker>((value) => typeof value === 'function') })
const Named = z.object({ name: z.literal('tandem'), version: z.string() })

/** The version in a folder; `undefined` where it has no package of this node. */
async function versionIn(folder: string): Promise<string | undefined> {
  try {
    return Named.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).version
  } catch {
    return undefined
  }
}

/** The folders of the packages that are installed in a folder or those above it. */
async function* installedPackages(from: string): AsyncGenerator<string> {
  const modules = join(from, 'node_modules')
  for (const name of await readdir(modules).catch(() => [])) yield join(modules, name)
  if (dirname(from) !== from) yield* installedPackages(dirname(from))
}

/** The folder in which a version is installed, under any name (`npm install old@npm:tandem@0.1.0`). Throws `invalid-options`. */
async function folderOfVersion(wanted: string): Promise<string> {
  for await (const folder of installedPackages(process.cwd())) {
    if ((await versionIn(folder)) === wanted) return folder
  }
  throw new NodeError(
    'invalid-options',
    `Version ${wanted} is not installed here: npm install --no-save old@npm:tandem@${wanted}`,
  )
}

/** The code of an installed version, by its number or its folder. Throws `invalid-options` where there is none. */
export async function versionAt(place: string): Promise<NodeMaker> {
  return makerIn(/^\d+\.\d+\.\d+/.test(place) ? await folderOfVersion(place) : place)
}

async function makerIn(folder: string): Promise<NodeMaker> {
  try {
    const module: unknown = await import(pathToFileURL(join(folder, 'dist', 'index.js')).href)
    return Exports.parse(module).createNode
  } catch (error) {
    const why = error instanceof z.ZodError ? 'it is no package of this node' : messageOf(error)
    throw new NodeError('invalid-options', `${folder} has no version of the node: ${why}.`)
  }
}
