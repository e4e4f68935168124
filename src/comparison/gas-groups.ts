/** Gas by groups of opcodes with similar prices. */
import { type OpcodeKind, opcodeKind } from '../evm/opcodes/opcode-kind.ts'

/** In the order in which they are shown. */
export const GAS_GROUPS = [
  'transaction',
  'arithmetic',
  'hashing',
  'environment',
  'accounts',
  'memory',
  'storage',
  'flow',
  'logs',
  'calls',
  'creations',
  'selfdestructs',
  'natives',
  'deposits',
  'losses',
] as const

/**
 * `transaction` is the intrinsic gas, `accounts` reading other accounts, `flow` jumps and the stack, `natives` what runs
 * inside precompiled contracts, `deposits` the code of new contracts, `losses` gas that a failing frame takes with it.
 */
export type GasGroup = (typeof GAS_GROUPS)[number]

const GROUPS = {
  flow: 'flow',
  arithmetic: 'arithmetic',
  hashing: 'hashing',
  environment: 'environment',
  accounts: 'accounts',
  input: 'environment',
  'input copy': 'memory',
  'code copy': 'memory',
  position: 'flow',
  stack: 'flow',
  memory: 'memory',
  storage: 'storage',
  logs: 'logs',
  creation: 'creations',
  calls: 'calls',
  selfdestruct: 'selfdestructs',
  other: 'flow',
} as const satisfies Record<OpcodeKind, GasGroup>

/** The group of an opcode. */
export function groupOf(opcode: number): GasGroup {
  return GROUPS[opcodeKind(opcode)]
}

/** Gas by group, in gas. */
export type GasByGroup = ReadonlyMap<GasGroup, bigint>

/** Counts gas while a transaction runs. */
export class GasTally {
  readonly #byOpcode = new Map<number, number>()
  readonly #others = new Map<GasGroup, bigint>()

  /** Gas of one opcode, without the gas passed to a call. */
  opcode(opcode: number, gas: number): void {
    this.#byOpcode.set(opcode, (this.#byOpcode.get(opcode) ?? 0) + gas)
  }

  add(group: GasGroup, gas: bigint): void {
    this.#others.set(group, (this.#others.get(group) ?? 0n) + gas)
  }

  /** All groups; what is missing from `total` (gas used before any refund) was lost in failures. */
  groups(total: bigint): GasByGroup {
    const groups = new Map<GasGroup, bigint>(
      GAS_GROUPS.map((group) => [group, this.#others.get(group) ?? 0n]),
    )
    for (const [opcode, gas] of this.#byOpcode) {
      const group = groupOf(opcode)
      groups.set(group, (groups.get(group) ?? 0n) + BigInt(gas))
    }
    let counted = 0n
    for (const gas of groups.values()) counted += gas
    groups.set('losses', total - counted)
    return groups
  }
}
