/** Opcodes by what they do, as the gas report groups them. */
import { type OpcodeKind, opcodeKind } from '../evm/opcodes/opcode-kind.ts'

/** What an opcode does. */
export const OPCODE_GROUPS = [
  'storage',
  'calls',
  'creation',
  'logs',
  'hashing',
  'memory',
  'call data',
  'arithmetic',
  'stack',
  'control flow',
  'environment',
  'other',
] as const

/** One of the groups. */
export type OpcodeGroup = (typeof OPCODE_GROUPS)[number]

const GROUPS = {
  flow: 'control flow',
  arithmetic: 'arithmetic',
  hashing: 'hashing',
  environment: 'environment',
  accounts: 'environment',
  input: 'call data',
  'input copy': 'call data',
  'code copy': 'environment',
  position: 'environment',
  stack: 'stack',
  memory: 'memory',
  storage: 'storage',
  logs: 'logs',
  creation: 'creation',
  calls: 'calls',
  selfdestruct: 'control flow',
  other: 'other',
} as const satisfies Record<OpcodeKind, OpcodeGroup>

/** The group of an opcode. */
export function groupOf(opcode: number): OpcodeGroup {
  return GROUPS[opcodeKind(opcode)]
}
