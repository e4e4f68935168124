/** Opcodes by what they do, as finely as any report of gas tells them apart. */

/** What an opcode does; `position` is the program counter and the gas left. */
export type OpcodeKind =
  | 'flow'
  | 'arithmetic'
  | 'hashing'
  | 'environment'
  | 'accounts'
  | 'input'
  | 'input copy'
  | 'code copy'
  | 'position'
  | 'stack'
  | 'memory'
  | 'storage'
  | 'logs'
  | 'creation'
  | 'calls'
  | 'selfdestruct'
  | 'other'

/** First and last opcode of each range. */
const RANGES: readonly (readonly [number, number, OpcodeKind])[] = [
  [0x00, 0x00, 'flow'],
  [0x01, 0x1f, 'arithmetic'],
  [0x20, 0x20, 'hashing'],
  [0x30, 0x30, 'environment'],
  [0x31, 0x31, 'accounts'],
  [0x32, 0x34, 'environment'],
  [0x35, 0x36, 'input'],
  [0x37, 0x37, 'input copy'],
  [0x38, 0x38, 'environment'],
  [0x39, 0x39, 'code copy'],
  [0x3a, 0x3a, 'environment'],
  [0x3b, 0x3c, 'accounts'],
  [0x3d, 0x3d, 'input'],
  [0x3e, 0x3e, 'input copy'],
  [0x3f, 0x3f, 'accounts'],
  [0x40, 0x46, 'environment'],
  [0x47, 0x47, 'accounts'],
  [0x48, 0x4f, 'environment'],
  [0x50, 0x50, 'stack'],
  [0x51, 0x53, 'memory'],
  [0x54, 0x55, 'storage'],
  [0x56, 0x57, 'flow'],
  [0x58, 0x58, 'position'],
  [0x59, 0x59, 'memory'],
  [0x5a, 0x5a, 'position'],
  [0x5b, 0x5b, 'flow'],
  [0x5c, 0x5d, 'storage'],
  [0x5e, 0x5e, 'memory'],
  [0x5f, 0x9f, 'stack'],
  [0xa0, 0xa4, 'logs'],
  [0xf0, 0xf0, 'creation'],
  [0xf1, 0xf2, 'calls'],
  [0xf3, 0xf3, 'flow'],
  [0xf4, 0xf4, 'calls'],
  [0xf5, 0xf5, 'creation'],
  [0xfa, 0xfa, 'calls'],
  [0xfd, 0xfe, 'flow'],
  [0xff, 0xff, 'selfdestruct'],
]

const KINDS: readonly OpcodeKind[] = Array.from(
  { length: 256 },
  (_, opcode) => RANGES.find(([first, last]) => first <= opcode && opcode <= last)?.[2] ?? 'other',
)

/** What an opcode does. */
export function opcodeKind(opcode: number): OpcodeKind {
  return KINDS[opcode] ?? 'other'
}
