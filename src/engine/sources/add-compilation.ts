/** A compilation that a running node is given: its sources, and the names of its contracts. */
import type { AbiRegistry } from '../../abi/registry.ts'
import type { Compilation } from '../../sources/compilation.ts'
import { registerNames } from '../../sources/compiled-abis.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Sources } from './model.ts'

/** Adds a compilation to the sources of an engine and its ABIs to the names. Durable once it resolves. Throws `invalid-params`. */
export async function addCompilation(
  { sources, names }: { readonly sources: Pick<Sources, 'add'>; readonly names: AbiRegistry },
  compilation: Compilation,
): Promise<void> {
  await sources.add(compilation)
  await registerNames(names, compilation, createEventLoopYield('query'))
}
