/** Values of a variable of each kind of type in `fixtures/contracts/Kinds.sol`, and what the contract's getters answer then. */
import type { VariableValue } from '../../src/abi/storage/value-type.ts'

/** Addresses; one is written with capital digits. */
export const A = '0x00000000000000000000000000000000000000a1'
export const B = '0xB0000000000000000000000000000000000000B2'
/** Longer than a slot. */
export const LONG = 'a text that is longer than the thirty-one bytes which fit into its slot, äöü'
const HASH = `0x${'c0de'.repeat(16)}`

const ONES = (1n << 256n) - 1n

/** path, value, what the getter answers, the getter with its arguments (the path's own without it), what is read back. */
export type KindCase = readonly [
  path: string,
  value: VariableValue,
  answer: unknown,
  getter?: readonly [name: string, ...values: unknown[]],
]

/** One for each kind of type, and for what is special about each. */
export const KIND_CASES: readonly KindCase[] = [
  ['owner', B, B],
  ['salary', '18446744073709551615', 18446744073709551615n],
  ['last', 7, 7n],
  ['flag', true, true],
  ['flag', 'false', false],
  ['small', '0xff', 255n],
  ['signed', -2, -2n],
  ['signed', '-32768', -32768n],
  ['color', 2, 2n],
  ['tag', '0x01020304', '0x01020304'],
  ['code', '0xabcdef', '0xabcdef'],
  ['thing', A, A],
  ['price', 10n ** 30n, 10n ** 30n],
  ['till', A, A],
  ['total', '5', 5n],
  ['total', ONES, ONES],
  ['debt', -(1n << 255n), -(1n << 255n)],
  ['digest', HASH, HASH],
  ['title', '', ''],
  ['title', 'short', 'short'],
  ['title', 'x'.repeat(31), 'x'.repeat(31)],
  ['title', 'y'.repeat(32), 'y'.repeat(32)],
  ['title', LONG, LONG],
  ['blob', '0x', '0x'],
  ['blob', '0x00ff', '0x00ff'],
  ['blob', `0x${'7f'.repeat(100)}`, `0x${'7f'.repeat(100)}`],
  ['point', { x: -5, y: 6, shown: true }, [-5n, 6n, true]],
  ['list', ['1', 2, 3n], [1n, 2n, 3n], ['everyList']],
  [
    'packed',
    Array.from({ length: 20 }, (_, i) => i),
    Array.from({ length: 20 }, (_, i) => BigInt(i)),
    ['everyPacked'],
  ],
  ['triples', [1, 2, 3, 4, 5, 6, 7], [1n, 2n, 3n, 4n, 5n, 6n, 7n], ['everyTriple']],
  ['triples[6]', 16777215, 16777215n, ['triples', 6]],
  ['flags[39]', true, true, ['flags', 39]],
  [
    'codes',
    ['0x0000000001', '0x0000000002', '0x0000000003'],
    ['0x0000000001', '0x0000000002', '0x0000000003'],
    ['everyCode'],
  ],
  ['pair[1]', A, A, ['pair', 1]],
  [
    'points',
    [
      { x: 1, y: 2, shown: false },
      { x: -1, y: 3, shown: true },
    ],
    [
      [1n, 2n, false],
      [-1n, 3n, true],
    ],
    ['everyPoint'],
  ],
  ['names', ['a', LONG, ''], ['a', LONG, ''], ['everyName']],
  ['rows', [[1, 2], [], [3]], [[1n, 2n], [], [3n]], ['everyRow']],
  [
    'grid',
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    [
      [1n, 2n, 3n],
      [4n, 5n, 6n],
    ],
    ['theGrid'],
  ],
  ['grid[1][2]', 9, 9n, ['grid', 1, 2]],
  ['corners[1].y', 4, [0n, 4n, false], ['corners', 1]],
  [
    'line',
    { from: { x: 1, y: 2, shown: true }, to: { x: 3, y: 4, shown: false }, label: LONG, weights: [1, 2] },
    [[1n, 2n, true], [3n, 4n, false], LONG, [1n, 2n]],
    ['theLine'],
  ],
  [`balances[${A}]`, '5', 5n, ['balances', A]],
  [`allowance[${A}][${B}]`, 8, 8n, ['allowance', A, B]],
  ['byName[alice]', 1, 1n, ['byName', 'alice']],
  ['byName["a \\"quoted\\" [key]"]', 1, 1n, ['byName', 'a "quoted" [key]']],
  ["byName['it.is']", 1, 1n, ['byName', 'it.is']],
  ['byName[""]', 1, 1n, ['byName', '']],
  ['byBytes[0x0102]', 1, 1n, ['byBytes', '0x0102']],
  ['byFlag[true]', 1, 1n, ['byFlag', true]],
  ['bySmall[0xff]', 1, 1n, ['bySmall', 255]],
  ['bySigned[-3]', 1, 1n, ['bySigned', -3]],
  ['byColor[1]', 1, 1n, ['byColor', 1]],
  [`byThing[${A}]`, 1, 1n, ['byThing', A]],
  ['byCode[0x01020304]', 1, 1n, ['byCode', '0x01020304']],
  ['byTag[0x01020304]', 1, 1n, ['byTag', '0x01020304']],
  ['byPrice[1000]', 1, 1n, ['byPrice', 1000]],
  ['lines[12].to.x', -7, [[0n, 0n, false], [-7n, 0n, false], '', []], ['lineOf', 12]],
  ['lines[12].label', LONG, [[0n, 0n, false], [0n, 0n, false], LONG, []], ['lineOf', 12]],
  [`lines[12].votes[${B}]`, 3, 3n, ['votesOf', 12, B]],
  [`line.votes[${B}]`, 3, 3n, ['votes', B]],
  [`titles[${A}]`, LONG, LONG, ['titles', A]],
  ['small64[3]', 9, 9n, ['small64', 3]],
]
