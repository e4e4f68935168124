/** Opcodes by what they do. */

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

/** First and last opcode of each range. */
const RANGES: readonly (readonly [number, number, OpcodeGroup])[] = [
  [0x00, 0x00, 'control flow'],
  [0x01, 0x1f, 'arithmetic'],
  [0x20, 0x20, 'hashing'],
  [0x30, 0x34, 'environment'],
  [0x35, 0x37, 'call data'],
  [0x38, 0x3c, 'environment'],
  [0x3d, 0x3e, 'call data'],
  [0x3f, 0x4f, 'environment'],
  [0x50, 0x50, 'stack'],
  [0x51, 0x53, 'memory'],
  [0x54, 0x55, 'storage'],
  [0x56, 0x57, 'control flow'],
  [0x58, 0x58, 'environment'],
  [0x59, 0x59, 'memory'],
  [0x5a, 0x5a, 'environment'],
  [0x5b, 0x5b, 'control flow'],
  [0x5c, 0x5d, 'storage'],
  [0x5e, 0x5e, 'memory'],
  [0x5f, 0x9f, 'stack'],
  [0xa0, 0xa4, 'logs'],
  [0xf0, 0xf0, 'creation'],
  [0xf1, 0xf2, 'calls'],
  [0xf3, 0xf3, 'control flow'],
  [0xf4, 0xf4, 'calls'],
  [0xf5, 0xf5, 'creation'],
  [0xfa, 0xfa, 'calls'],
  [0xfd, 0xfe, 'control flow'],
  [0xff, 0xff, 'control flow'],
]

const GROUP_OF: readonly OpcodeGroup[] = Array.from(
  { length: 256 },
  (_, opcode) => RANGES.find(([first, last]) => first <= opcode && opcode <= last)?.[2] ?? 'other',
)

/** The group of an opcode. */
export function groupOf(opcode: number): OpcodeGroup {
  return GROUP_OF[opcode] ?? 'other'
}
