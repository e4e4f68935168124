/** Where the two rule sets differ for the message loop: presence of opcodes, prices of calls, depth. */
import type { Hex } from '../encoding/hex.ts'
import type { RuleSet } from './message.ts'
import { type Precompile, precompileTable } from './precompiles/table.ts'

/** What the loop asks of a rule set. Gas in gas. */
export interface VmRules {
  readonly name: RuleSet
  /** Deepest frame; the transaction's own is 0. */
  readonly maxDepth: number
  /**
   * The chain's way with children: all remaining gas may go down, the stipend is charged to the caller, an
   * account is new by existence alone and costs also without value, failed creations leave no return data
   * (docs/protocol.md#62-gas-schedule, docs/protocol.md#63-calls-and-creations).
   */
  readonly chainCalls: boolean
  /** Does initcode pay per word, within a limit (EIP-3860, RSKIP-438)? */
  readonly metersInitcode: boolean
  /** Opcodes of `opcodes/table.ts` that do not exist here. */
  readonly absentOpcodes: readonly number[]
  /** Does 0xfc in front of code mark a header (docs/protocol.md#64-code-header)? */
  readonly codeHeaders: boolean
  /** The chain's own contracts; empty where the library brings its own. */
  readonly precompiles: ReadonlyMap<Hex, Precompile>
}

/** CHAINID, SELFBALANCE, BASEFEE, TLOAD, TSTORE, MCOPY, PUSH0: all younger than Petersburg. */
const AFTER_PETERSBURG = [0x46, 0x47, 0x48, 0x5c, 0x5d, 0x5e, 0x5f]

const CHAIN: VmRules = {
  name: 'chain',
  maxDepth: 400,
  chainCalls: true,
  metersInitcode: true,
  absentOpcodes: [],
  codeHeaders: true,
  precompiles: precompileTable(),
}

const PETERSBURG: VmRules = {
  name: 'petersburg',
  maxDepth: 1024,
  chainCalls: false,
  metersInitcode: false,
  absentOpcodes: AFTER_PETERSBURG,
  codeHeaders: false,
  precompiles: new Map(),
}

/** The rules of a set; the same record each time. */
export function vmRules(ruleSet: RuleSet): VmRules {
  return ruleSet === 'chain' ? CHAIN : PETERSBURG
}
