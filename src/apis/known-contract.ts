/** Contracts on the chain whose sources are known. */
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { SourcesAt } from '../engine/sources/model.ts'
import {
  type Compilation,
  type CompiledContract,
  contractIn,
  type SourceMatch,
} from '../sources/compilation.ts'

/** A contract whose sources are known. */
export interface KnownContract extends SourcesAt {
  readonly match: SourceMatch
  readonly compilation: Compilation
  readonly contract: CompiledContract
}

/** The contract at an address with its compilation; `undefined` where no known compilation made its code. */
export async function knownAt(engine: Engine, address: Hex): Promise<KnownContract | undefined> {
  const state = await engine.queries.state({ tag: 'latest' })
  const found = state && (await engine.sources.at(state, address))
  if (found?.match === undefined) return undefined
  const { match } = found
  const compilation = await engine.sources.get(match.compilation)
  if (compilation === undefined) return undefined
  const contract = contractIn(compilation, match)
  return contract === undefined ? undefined : { ...found, match, compilation, contract }
}
