/** What a message runs by, as data: opcodes, precompiled contracts, limits, intrinsic gas. */
import { intrinsicGas, MAX_INITCODE_SIZE, type Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Overlay } from '../state/overlay.ts'
import {
  type BlockEnvironment,
  MAX_GAS,
  type Message,
  type MessageResult,
  type RunOptions,
} from './message.ts'
import { MAX_CALL_DEPTH } from './opcodes/calls.ts'
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
  maxDepth: MAX_CALL_DEPTH,
  codeHeaders: true,
  maxGas: MAX_GAS,
  maxInitcodeSize: MAX_INITCODE_SIZE,
  intrinsicGas,
}

/** Runs messages by one set of rules. Any number at once. */
export interface Vm {
  readonly rules: VmRules
  /**
   * Runs a top-level message on `state`, which keeps what it changed unless it does not succeed. Throws
   * `invalid-params` for gas above `rules.maxGas`. Whatever else this throws (`limit-exceeded` at the deadline, a failing
   * disk) leaves `state` with checkpoints open: drop it.
   */
  run(message: Message, state: Overlay, env: BlockEnvironment, options?: RunOptions): Promise<MessageResult>
}
