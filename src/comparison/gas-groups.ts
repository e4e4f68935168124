/** Gas by groups of opcodes with similar prices. */

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

const ACCOUNTS: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0x47])
const MEMORY: ReadonlySet<number> = new Set([0x37, 0x39, 0x3e, 0x51, 0x52, 0x53, 0x59, 0x5e])
const STORAGE: ReadonlySet<number> = new Set([0x54, 0x55, 0x5c, 0x5d])
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa])

/** The group of an opcode. */
export function groupOf(opcode: number): GasGroup {
  if (ACCOUNTS.has(opcode)) return 'accounts'
  if (MEMORY.has(opcode)) return 'memory'
  if (STORAGE.has(opcode)) return 'storage'
  if (CALLS.has(opcode)) return 'calls'
  if (opcode >= 0x01 && opcode <= 0x1e) return 'arithmetic'
  if (opcode === 0x20) return 'hashing'
  if (opcode >= 0x30 && opcode <= 0x4a) return 'environment'
  if (opcode >= 0xa0 && opcode <= 0xa4) return 'logs'
  if (opcode === 0xf0 || opcode === 0xf5) return 'creations'
  return opcode === 0xff ? 'selfdestructs' : 'flow'
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
