/** ABIs of contracts by address: registered ones, those of their sources, and those of the contracts behind a proxy. */
import type { Artifact } from '../abi/artifact.ts'
import { type AbiRegistry, createAbiRegistry } from '../abi/registry.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { BlockReference } from '../engine/model.ts'

/** Registries of single ABIs, each made once. */
const registries = new WeakMap<Artifact, Promise<AbiRegistry>>()

async function registryOf(artifact: Artifact): Promise<AbiRegistry> {
  const registry = createAbiRegistry()
  await registry.add(artifact)
  return registry
}

/** The names of one ABI. */
function namesIn(artifact: Artifact): Promise<AbiRegistry> {
  const known = registries.get(artifact) ?? registryOf(artifact)
  registries.set(artifact, known)
  return known
}

/** The ABI of the contract at an address: registered for it or for its code, else that of its sources. */
export async function abiAt(
  engine: Engine,
  address: Hex,
  reference: BlockReference,
): Promise<Artifact | undefined> {
  const state = await engine.queries.state(reference)
  const account = state?.account(address)
  const code = account && state?.code(account.codeHash)
  const registered = engine.names.isEmpty ? undefined : engine.names.contractAt(address, code)
  return registered ?? (state && engine.sources.abiAt(state, address))
}

/** The ABI of a contract, and those of the contracts behind it; contracts without a known ABI are left out. */
export async function abisBehind(
  engine: Engine,
  address: Hex,
  reference: BlockReference,
): Promise<readonly Artifact[]> {
  const found: Artifact[] = []
  for (const each of [address, ...(await engine.queries.implementations(address, reference))]) {
    const artifact = await abiAt(engine, each, reference)
    if (artifact !== undefined && !found.includes(artifact)) found.push(artifact)
  }
  return found
}

/** The names by which calls, events and errors of a contract are decoded: its own, then those behind it. */
export async function namesAt(engine: Engine, address: Hex): Promise<readonly AbiRegistry[]> {
  const artifacts = await abisBehind(engine, address, { tag: 'latest' })
  return Promise.all(artifacts.map(namesIn))
}
