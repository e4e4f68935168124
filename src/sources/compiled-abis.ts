/** The names in the ABIs of a compilation. */
import { type Artifact, readArtifact } from '../abi/artifact.ts'
import { type AbiCodec, loadAbiCodec } from '../abi/codec.ts'
import type { AbiRegistry } from '../abi/registry.ts'
import { type Compilation, type CompiledContract, contractsOf } from './compilation.ts'

/** Contracts of one compilation whose names are registered. */
const MOST_CONTRACTS = 1000

/** The names of a compiled contract, and its code; `undefined` where its ABI cannot be read. */
export function artifactOf(
  { abi, evm }: CompiledContract,
  contractName: string,
  codec: AbiCodec,
): Artifact | undefined {
  const { bytecode, deployedBytecode } = evm
  try {
    return readArtifact(
      { abi, contractName, bytecode: bytecode.object, deployedBytecode: deployedBytecode.object },
      codec,
    )
  } catch {
    return undefined
  }
}

/**
 * Registers the contracts of a compilation, so that they are found and decoded by their names. Those too large are left
 * out. Others have their turn between two contracts where `pause` says so.
 */
export async function registerNames(
  names: AbiRegistry,
  compilation: Compilation,
  pause: () => Promise<void> | undefined,
): Promise<void> {
  const codec = await loadAbiCodec()
  let count = 0
  for (const { name, contract } of contractsOf(compilation)) {
    await pause()
    const artifact = artifactOf(contract, name, codec)
    if (artifact === undefined) continue
    if (++count > MOST_CONTRACTS) return
    // Too large an artifact is refused.
    await names.register(artifact).catch(() => {})
  }
}
