/** What a message runs by, as data: opcodes, precompiled contracts, limits, intrinsic gas. */
import { intrinsicGas, MAX_INITCODE_SIZE, type Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { MAX_GAS } from './message.ts'
import { OPERATIONS, type OpcodeTable, opcodeTable } from './opcodes/table.ts'
import type { Precompile } from './precompiles/precompile.ts'
import { PRECOMPILES } from './precompiles/table.ts'

/** A set of rules. */
export interface VmRules {
  readonly opcodes: OpcodeTable
  /** By lower-case address. */
  readonly precompiles: ReadonlyMap<Hex, Precompile>
  /** Deepest frame; the transaction's own is 0. */
  readonly maxDepth: number
  /** Does 0xfc in front of code mark a header (docs/protocol.md#64-code-header)? */
  readonly codeHeaders: boolean
  /** Most gas of a message or transaction. */
  readonly maxGas: bigint
  /** Longest init code of a transaction, bytes. */
  readonly maxInitcodeSize: number
  /** Gas before any code runs; without `from`, as in a simulation, nobody is exempt. */
  intrinsicGas(transaction: Pick<Transaction, 'to' | 'data'> & { readonly from?: Hex }): bigint
}

/** The chain's rules (docs/protocol.md#6-evm). */
export const CHAIN_RULES: VmRules = {
  opcodes: opcodeTable(OPERATIONS),
  precompiles: PRECOMPILES,
  maxDepth: 400,
  codeHeaders: true,
  maxGas: MAX_GAS,
  maxInitcodeSize: MAX_INITCODE_SIZE,
  intrinsicGas,
}
