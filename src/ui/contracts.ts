/** The ABIs that the node knows, and how one is registered from a file. */
import type { AbiEntry } from './abi.ts'
import { call } from './client.ts'
import type { Hex } from './format.ts'
import { forgetNames } from './names.ts'
import { may, version } from './store.ts'

/** `evm_contractAbi`. */
export interface ContractAbi {
  readonly name: string | null
  readonly abi: readonly AbiEntry[]
}

/** `evm_contracts`. */
export interface KnownContract {
  readonly name: string | null
  readonly address: Hex | null
  readonly functions: number
  readonly events: number
  readonly errors: number
}

/** The ABI of the contract at an address, or of this name; null where none is known or the method is closed. */
export async function loadAbi(contract: string, signal?: AbortSignal): Promise<ContractAbi | null> {
  return may('evm_contractAbi') ? call<ContractAbi | null>('evm_contractAbi', [contract], signal) : null
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
  const members = Array.isArray(json) ? { abi: json } : (json as Readonly<Record<string, unknown>> | null)
  if (!Array.isArray(members?.abi)) throw new Error('it has no ABI')
  const { contractName } = members as { contractName?: unknown }
  const own = typeof contractName === 'string' && contractName !== '' ? contractName : name
  const kept = MEMBERS.flatMap((member) => (member in members ? [[member, members[member as 'abi']]] : []))
  return { name: own, artifact: { ...Object.fromEntries(kept), contractName: own } }
}

/** Registers the ABI of an artifact, or a bare ABI, for an address or for all contracts of its name, which it returns. Throws an Error in words. */
export async function registerFile(file: File, address?: Hex): Promise<string> {
  const fileName = file.name.replace(/\.json$/i, '').replace(/^0x/, '') || 'Contract'
  try {
    const { name, artifact } = artifactOf(JSON.parse(await file.text()), fileName)
    await registerAbi(address ?? name, artifact)
    return name
  } catch (error) {
    const reason =
      error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : ''
    throw new Error(`${file.name}: ${reason}`)
  }
}
