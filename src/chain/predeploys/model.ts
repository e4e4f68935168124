/** A well-known contract, as data. */
import type { Hex } from '../../encoding/hex.ts'
import type codes from './codes.json'

/** A contract. */
export interface Predeploy {
  readonly title: string
  readonly address: Hex
  /** Where its source is, and the licence of that. */
  readonly source: string
  readonly licence: string
  /** Key in `codes.json`. */
  readonly code: keyof typeof codes
  /** Of the account: 1, and one more for each contract that its constructor creates; 0 where Anvil, or a deployment on this chain, has it so. */
  readonly nonce: bigint
  /** Storage that its constructor writes: slots and values. */
  readonly storage?: readonly (readonly [slot: bigint, value: bigint])[]
  /** What its constructor writes into the code for the chain. */
  readonly domain?: Domain
}

/** The domain of EIP-712 of a contract, which its constructor computes; positions in bytes of the code. */
export interface Domain {
  readonly chainIdAt: number
  readonly separatorAt: number
  readonly type: string
  /** Members of the domain before the chain id, which are hashed each. */
  readonly texts: readonly string[]
}
