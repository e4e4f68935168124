/** Sources that a node is given: by its options, and by its users. */
import { singleNames } from '../chain/predeploys/names.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { Steps } from '../engine/progress.ts'
import { addCompilation } from '../engine/sources/add-compilation.ts'
import { invalidParams, messageOf } from '../errors.ts'
import type { Compilation } from '../sources/compilation.ts'
import { readCompilation } from '../sources/read-compilation.ts'
import { readCompilations } from '../sources/source-files.ts'
import { readPredeploySources } from '../store/package-files.ts'
import type { NodeParts } from './chain-opener.ts'

/** Adds the compilations of the projects and artifacts that the options name; a build-info that cannot be read is logged. */
export async function addArtifacts(
  { sources }: Pick<Engine, 'sources'>,
  { options, logger }: Pick<NodeParts, 'options' | 'logger'>,
): Promise<void> {
  if (options.abi.length === 0) return
  const { compilations, faults } = await readCompilations(options.abi)
  for (const fault of faults) logger.warn('a build-info has no sources that can be read', { fault })
  const progress = new Steps('reading sources', 'compilations', logger)
  for (const [done, compilation] of compilations.entries()) {
    progress.step(done, compilations.length)
    await sources.add(compilation)
  }
}

/** Adds the sources of the contracts that the chain begins with, where the package that has them is installed. */
export async function addPredeploySources(
  engine: Pick<Engine, 'sources' | 'names'>,
  { options }: Pick<NodeParts, 'options'>,
): Promise<void> {
  for (const name of singleNames(options.predeploy)) {
    const info = readPredeploySources(name)
    if (info !== undefined) await addCompilation(engine, readCompilation(info))
  }
}

/** Adds a build-info, or those under a path; the ids of all. Throws `invalid-params` for what holds none. */
export async function addSources(
  engine: Pick<Engine, 'sources' | 'names'>,
  given: object | string,
): Promise<readonly Hex[]> {
  const compilations = typeof given === 'string' ? await under(given) : [read(given)]
  for (const compilation of compilations) await addCompilation(engine, compilation)
  return compilations.map(({ id }) => id)
}

function read(given: object): Compilation {
  try {
    return readCompilation(given)
  } catch (error) {
    throw invalidParams(`Invalid sources: ${messageOf(error)}.`)
  }
}

async function under(path: string): Promise<readonly Compilation[]> {
  const { compilations, faults } = await readCompilations([path])
  if (compilations.length > 0) return compilations
  throw invalidParams(`Invalid sources: ${faults[0] ?? `${path} holds no build-info`}.`)
}
