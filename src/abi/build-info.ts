/** Contracts of a build-info: the whole output of the compiler, which Hardhat and Foundry keep beside their artifacts. */
import { isObject } from '../encoding/json-object.ts'
import { type Artifact, readArtifact } from './artifact.ts'
import type { AbiCodec } from './codec.ts'

type Json = Readonly<Record<string, unknown>>

/** The contracts with their names; `undefined` when this JSON is no build-info. */
function contractsIn(json: unknown): [name: string, contract: Json][] | undefined {
  const output = isObject(json) && isObject(json.output) ? json.output : json
  if (!isObject(output) || !isObject(output.contracts)) return undefined
  const files = Object.values(output.contracts).filter(isObject)
  return files.flatMap((file) =>
    Object.entries(file).filter((entry): entry is [string, Json] => isObject(entry[1])),
  )
}

/** Does this JSON look like a build-info, or the output of solc? */
export function holdsContracts(json: unknown): boolean {
  return contractsIn(json) !== undefined
}

/** Reads all contracts of a build-info, or of solc's output alone. Throws an Error that names the first one with a fault. */
export function readBuildInfo(json: unknown, codec: AbiCodec): Artifact[] {
  return (contractsIn(json) ?? []).map(([contractName, { abi, evm, storageLayout }]) => {
    const { bytecode, deployedBytecode } = isObject(evm)
      ? evm
      : { bytecode: undefined, deployedBytecode: undefined }
    try {
      return readArtifact({ contractName, abi, bytecode, deployedBytecode, storageLayout }, codec)
    } catch (error) {
      throw new Error(`${contractName}: ${error instanceof Error ? error.message : error}`)
    }
  })
}
