/** The ABIs that the node knows, and how one is registered from a file. */
import { type Checked, isNumber, isObject, isText, listOf, objectOf, orNull } from './checks.ts'
import { call, callFor } from './client.ts'
import { type Hex, isHex, messageOf } from './format.ts'
import { isAbiEntry } from './model.ts'
import { forgetNames } from './names.ts'
import { may, version } from './store.ts'

/** `evm_contractAbi`. */
const isContractAbi = objectOf({ name: orNull(isText), abi: listOf(isAbiEntry) })
export type ContractAbi = Checked<typeof isContractAbi>

/** `evm_contracts`. */
export const isKnownContract = objectOf({
  name: orNull(isText),
  address: orNull(isHex),
  functions: isNumber,
  events: isNumber,
  errors: isNumber,
})
export type KnownContract = Checked<typeof isKnownContract>

/** The ABI of the contract at an address, or of this name; null where none is known or the method is closed. */
export async function loadAbi(contract: string, signal?: AbortSignal): Promise<ContractAbi | null> {
  return may('evm_contractAbi') ? callFor(orNull(isContractAbi), 'evm_contractAbi', [contract], signal) : null
}

/** Registers an ABI for an address, or for every contract of this name, and has the pages load it. Throws `RpcError`. */
export async function registerAbi(contract: string, abi: unknown): Promise<void> {
  await call('evm_setAbi', [contract, abi])
  forgetNames()
  version.value++
}

/** What the node needs of an artifact; those of compilers hold sources and syntax trees as well. */
const MEMBERS = ['contractName', 'abi', 'bytecode', 'deployedBytecode'] as const

function artifactOf(json: unknown, name: string): { readonly name: string; readonly artifact: object } {
  const members = new Map(Object.entries(Array.isArray(json) ? { abi: json } : isObject(json) ? json : {}))
  if (!Array.isArray(members.get('abi'))) throw new Error('it has no ABI')
  const contractName = members.get('contractName')
  const own = isText(contractName) && contractName !== '' ? contractName : name
  const kept = MEMBERS.flatMap((member) => (members.has(member) ? [[member, members.get(member)]] : []))
  return { name: own, artifact: { ...Object.fromEntries(kept), contractName: own } }
}

/** A file and its content. Throws an Error that names the file. */
export async function readFile(file: File): Promise<{ readonly file: File; readonly json: unknown }> {
  try {
    return { file, json: JSON.parse(await file.text()) }
  } catch {
    throw new Error(`${file.name}: it is not JSON`)
  }
}

/** Registers the ABI of an artifact, or a bare ABI, for an address or for all contracts of its name, which it returns. Throws an Error in words. */
export async function registerArtifact(file: File, json: unknown, address?: Hex): Promise<string> {
  const fileName = file.name.replace(/\.json$/i, '').replace(/^0x/, '') || 'Contract'
  try {
    const { name, artifact } = artifactOf(json, fileName)
    await registerAbi(address ?? name, artifact)
    return name
  } catch (error) {
    throw new Error(`${file.name}: ${messageOf(error)}`)
  }
}
