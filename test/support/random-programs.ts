/** Random bytecode for differential tests: plausible pieces that call, create and destroy. */
import fc from 'fast-check'
import type { Hex } from '../../src/encoding/hex.ts'
import { COINBASE, NOBODY, SENDER } from './execution.ts'
import type { RuleSet } from './oracle-vm.ts'

/** Four contracts, whose short addresses make short pushes. */
export const CONTRACTS: readonly Hex[] = ['a1', 'a2', 'a3', 'a4'].map(
  (end) => `0x${end.padStart(40, '0')}` as Hex,
)
/** An empty account that is in the state. */
export const HOLLOW: Hex = `0x${'e0'.padStart(40, '0')}`

type Code = readonly number[]

/** Bytes; a jump over some pieces, or to any when `over` is beyond the last; a piece to run several times. */
type Piece =
  | Code
  | { readonly over: number; readonly condition: Code }
  | { readonly times: number; readonly body: Code }

/** Code that pushes a number by the shortest push. */
function push(value: bigint | number): number[] {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return [0x5f + bytes.length, ...bytes]
}

/** Pushes the operands so that the first ends on top. */
function apply(op: number, ...operands: readonly Code[]): number[] {
  return [...operands.toReversed().flat(), op]
}

const pushed = (values: fc.Arbitrary<bigint | number>): fc.Arbitrary<Code> => values.map(push)

const HUGE = [2n ** 31n, 2n ** 32n, 2n ** 63n, 2n ** 64n, 2n ** 255n, 2n ** 256n - 1n]
const word = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 300n }) },
  { weight: 2, arbitrary: fc.constantFrom(...HUGE, 2n ** 255n - 1n, 2n ** 256n - 2n, 2n ** 128n) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
)
/** An operand that is pushed, read from the call data, left by what ran before, or the gas that remains. */
const operand = fc.oneof(
  { weight: 8, arbitrary: pushed(word) },
  { weight: 1, arbitrary: pushed(fc.nat(64)).map((offset) => [...offset, 0x35]) },
  { weight: 1, arbitrary: fc.constantFrom([], [0x5a], [0x58], [0x3d]) },
)
const offset = pushed(
  fc.oneof(
    { weight: 300, arbitrary: fc.nat(200) },
    { weight: 10, arbitrary: fc.nat(7_000) },
    { weight: 1, arbitrary: fc.constantFrom(...HUGE) },
  ),
)
const size = pushed(
  fc.oneof(
    { weight: 300, arbitrary: fc.nat(100) },
    { weight: 60, arbitrary: fc.constant(0) },
    { weight: 10, arbitrary: fc.nat(3_000) },
    { weight: 1, arbitrary: fc.constantFrom(...HUGE) },
  ),
)
const slot = pushed(fc.nat(3))
const flag = pushed(fc.nat(1))
const someone = pushed(
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...CONTRACTS).map(BigInt) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(NOBODY, HOLLOW, COINBASE, SENDER, CONTRACTS[0] as Hex).map(BigInt),
    },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 9 }) },
    { weight: 1, arbitrary: word },
  ),
)
const self = fc.constant([0x30])
const target = fc.oneof({ weight: 5, arbitrary: someone }, { weight: 1, arbitrary: self })
const wei = pushed(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(0n) },
    { weight: 2, arbitrary: fc.constantFrom(1n, 7n, 2n ** 70n) },
  ),
)
const callGas = fc.oneof(
  { weight: 3, arbitrary: fc.constant([0x5a]) },
  { weight: 4, arbitrary: pushed(fc.constantFrom(0, 1, 700, 2_300, 5_000, 21_000)) },
  { weight: 12, arbitrary: pushed(fc.constantFrom(30_000, 60_000, 100_000, 200_000)) },
  { weight: 1, arbitrary: pushed(fc.constantFrom(...HUGE)) },
)

/** The use of a result: it stays on the stack, is dropped, or goes to memory, storage or a log. */
const sink = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Code>([]) },
  { weight: 1, arbitrary: fc.constant([0x50]) },
  { weight: 3, arbitrary: fc.nat(120).map((at) => [...push(at), 0x52]) },
  { weight: 1, arbitrary: slot.map((at) => [...at, 0x55]) },
  { weight: 1, arbitrary: fc.constant([0x60, 0, 0x60, 0, 0xa1]) },
)

function operation(codes: Code, ...operands: readonly fc.Arbitrary<Code>[]) {
  return fc
    .tuple(fc.constantFrom(...codes), fc.tuple(...operands))
    .map(([code, values]) => apply(code, ...values))
}

const then = (first: fc.Arbitrary<Code>, second: fc.Arbitrary<Code>): fc.Arbitrary<Code> =>
  fc.tuple(first, second).map((both) => both.flat())

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Initcode of at most 32 bytes, as assembled bytes. */
const INITCODES: readonly Code[] = [
  [],
  // Returns four bytes of code that burn, stop, revert, or begin with 0xef.
  ...[[0x5b, 0x60, 0x00, 0x56], [0x00], [0x60, 0x00, 0x80, 0xfd], [0xef, 0x00]].map((code) => [
    ...[0x60 + code.length - 1, ...code, 0x60, 0x00, 0x52],
    ...[0x60, code.length, 0x60, 32 - code.length, 0xf3],
  ]),
  // Returns code too large, stores a word, reverts with a word, fails, destroys itself, calls its maker.
  [0x61, 0x60, 0x01, 0x60, 0x00, 0xf3],
  [0x60, 0x07, 0x60, 0x01, 0x55],
  [0x60, 0x2a, 0x60, 0x00, 0x52, 0x60, 0x20, 0x60, 0x00, 0xfd],
  [0xfe],
  [0x33, 0xff],
  [0x30, 0xff],
  [0x60, 0x00, 0x80, 0x80, 0x80, 0x80, 0x33, 0x5a, 0xf1],
]

/** Puts initcode in memory and leaves its offset on top of its length. */
const initcode = fc.oneof(
  fc.constantFrom(...INITCODES).map((code) => {
    const padded = [...code, ...new Array<number>(32 - code.length).fill(0)]
    return [0x7f, ...padded, 0x60, 0, 0x52, ...push(code.length), 0x60, 0]
  }),
  // Its own code, or another's.
  fc.constant([0x38, 0x60, 0, 0x60, 0, 0x39, 0x38, 0x60, 0]),
  someone.map((who) => [...who, 0x3b, 0x60, 0, 0x60, 0, ...who, 0x3c, ...who, 0x3b, 0x60, 0]),
)

const ENVIRONMENT_OPCODES = [
  0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x58, 0x59, 0x5a,
]

/** Straight pieces, by weight. */
function straight(ruleSet: RuleSet): fc.Arbitrary<Code> {
  const isChain = ruleSet === 'chain'
  const pure = fc.oneof(
    {
      weight: 5,
      arbitrary: operation(
        [...range(0x01, 0x07), 0x0a, 0x0b, ...range(0x10, 0x14), ...range(0x16, 0x18), ...range(0x1a, 0x1d)],
        operand,
        operand,
      ),
    },
    operation([0x08, 0x09], operand, operand, operand),
    operation([0x15, 0x19], operand),
    operation([0x51], offset),
    operation([0x54], slot),
    operation([0x20], offset, size),
    operation(isChain ? [...ENVIRONMENT_OPCODES, 0x46, 0x47, 0x48, 0x5f] : ENVIRONMENT_OPCODES),
    operation([0x31, 0x3b, 0x3f], target),
    operation([0x35], operand),
    operation([0x40], pushed(fc.oneof(fc.integer({ min: 700, max: 1_010 }), word))),
    ...(isChain ? [operation([0x5c], slot)] : []),
  )
  const call = fc.oneof(
    operation([0xf1, 0xf2], callGas, target, wei, offset, size, offset, size),
    operation([0xf4, 0xfa], callGas, target, offset, size, offset, size),
  )
  const create = fc.oneof(
    fc.tuple(initcode, wei).map(([code, value]) => [...code, ...value, 0xf0]),
    fc.tuple(initcode, wei, slot).map(([code, value, salt]) => {
      // The salt lies below length and offset.
      return [...salt, ...code, ...value, 0xf5]
    }),
  )
  return fc.oneof(
    { weight: 70, arbitrary: then(pure, sink) },
    { weight: 12, arbitrary: operation([0x52, 0x53], offset, operand) },
    { weight: 12, arbitrary: operation([0x55], slot, fc.oneof(flag, operand)) },
    {
      weight: 12,
      arbitrary: operation([0x37, 0x39, ...(isChain ? [0x5e] : [])], offset, offset, size),
    },
    { weight: 4, arbitrary: operation([0x3c], target, offset, offset, size) },
    {
      weight: 12,
      arbitrary: fc
        .nat(4)
        .chain((n) => operation([0xa0 + n], offset, size, ...new Array<typeof operand>(n).fill(operand))),
    },
    { weight: 36, arbitrary: then(call, sink) },
    { weight: 12, arbitrary: then(create, sink) },
    // Up to the existing length, and sometimes more.
    {
      weight: 4,
      arbitrary: fc
        .tuple(offset, fc.constantFrom(0, 0, 0, 0, 0, 1))
        .map(([to, from]) => [0x3d, 0x60, from, ...to, 0x3e]),
    },
    // Calls what was just created, or whatever lies on the stack.
    { weight: 2, arbitrary: fc.constant([0x60, 0, 0x80, 0x80, 0x80, 0x80, 0x85, 0x5a, 0xf1]) },
    {
      weight: 12,
      arbitrary: fc
        .constantFrom(...range(0x80, 0x84), ...range(0x80, 0x84), ...range(0x90, 0x93), 0x50, 0x88, 0x9f)
        .map((op) => [op]),
    },
    { weight: 1, arbitrary: fc.array(fc.nat(255), { maxLength: 6 }) },
    ...(isChain ? [{ weight: 12, arbitrary: operation([0x5d], slot, operand) }] : []),
  )
}

const ending = fc.oneof(
  { weight: 4, arbitrary: operation([0xf3], offset, size) },
  { weight: 3, arbitrary: operation([0xfd], offset, size) },
  { weight: 3, arbitrary: operation([0xff], target) },
  { weight: 2, arbitrary: fc.constantFrom([0x00], [0xfe], [0x0c]) },
)

/** Code of one rule set. Begins with some words on the stack, so that few pieces lack any. */
export function programs(ruleSet: RuleSet): fc.Arbitrary<Uint8Array> {
  const body = straight(ruleSet)
  const jump = fc.record({
    over: fc.oneof(
      { weight: 12, arbitrary: fc.nat(4) },
      { weight: 1, arbitrary: fc.integer({ min: 40, max: 80 }) },
    ),
    condition: fc.oneof({ weight: 4, arbitrary: operand }, { weight: 1, arbitrary: fc.constant([]) }),
  })
  const piece: fc.Arbitrary<Piece> = fc.oneof(
    { weight: 90, arbitrary: body },
    { weight: 3, arbitrary: fc.record({ times: fc.integer({ min: 2, max: 6 }), body }) },
    { weight: 1, arbitrary: ending },
    { weight: 6, arbitrary: jump },
  )
  // Short code lives to its end more often, long code meets more on the way.
  const pieces = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 5 }),
    fc.array(piece, { minLength: 1, maxLength: 30, size: 'max' }),
  )
  const code = fc
    .tuple(fc.array(word, { minLength: 6, maxLength: 16 }), pieces, ending)
    .map(([words, pieces, last]) => layOut([words.flatMap(push), ...pieces, last]))
  if (ruleSet === 'petersburg') return code
  // Some code has a header.
  return fc.oneof(
    { weight: 20, arbitrary: code },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.nat(3), code).map(([n, rest]) => Uint8Array.of(0xfc, 1, 1, n, ...rest)),
    },
  )
}

/** Where a loop counts; the body can spoil it, and then the gas ends the loop. */
const COUNTER = [0x61, 0x01, 0x00]

/** Joins pieces, each begun by a JUMPDEST. */
function layOut(pieces: readonly Piece[]): Uint8Array {
  const starts: number[] = []
  let length = 0
  for (const piece of pieces) {
    starts.push(length)
    length += place(piece, 0, 0).length
  }
  return Uint8Array.from(
    pieces.flatMap((piece, i) => {
      const over = 'over' in piece ? piece.over : 0
      const target = over < 40 ? Math.min(i + 1 + over, starts.length - 1) : over % starts.length
      return place(piece, starts[i] as number, starts[target] as number)
    }),
  )
}

/** A piece whose first byte has this position, jumping to that one if it jumps. */
function place(piece: Piece, start: number, target: number): number[] {
  if ('over' in piece) {
    const { condition } = piece
    return [0x5b, ...condition, 0x61, target >> 8, target & 0xff, condition.length === 0 ? 0x56 : 0x57]
  }
  if (!('times' in piece)) return [0x5b, ...piece]
  const head = [0x5b, 0x60, piece.times, ...COUNTER, 0x52]
  const again = start + head.length
  return [
    ...[...head, 0x5b, ...piece.body],
    ...[0x60, 1, ...COUNTER, 0x51, 0x03, 0x80, ...COUNTER, 0x52],
    ...[0x61, again >> 8, again & 0xff, 0x57],
  ]
}
