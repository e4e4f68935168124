/** The compiled contracts of `fixtures/contracts`. */
import { readFileSync } from 'node:fs'
import type { InterfaceAbi } from 'ethers'

/** ABI and creation code of one contract. */
export interface Artifact {
  readonly abi: InterfaceAbi
  readonly bytecode: `0x${string}`
  readonly deployedBytecode: `0x${string}`
}

/** Reads an artifact by its contract's name. */
export function artifact(
  name: 'Token' | 'Probe' | 'Child' | 'Shop' | 'Vault' | 'Deed' | 'Goods' | 'Emitter',
): Artifact {
  return JSON.parse(readFileSync(new URL(`../../fixtures/contracts/${name}.json`, import.meta.url), 'utf8'))
}
