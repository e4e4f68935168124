/** Variables of each kind of type: written by the layout that solc made, read back by the contract's own getters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { placeOf } from '../../../src/abi/storage/place.ts'
import { readVariable } from '../../../src/abi/storage/read.ts'
import type { VariableValue } from '../../../src/abi/storage/value-type.ts'
import { variableWrites } from '../../../src/abi/storage/write.ts'
import { type Deployed, deployKinds } from '../../support/kinds.ts'

const A = '0x00000000000000000000000000000000000000a1'
const B = '0xB0000000000000000000000000000000000000B2'
const LONG = 'a text that is longer than the thirty-one bytes which fit into its slot, äöü'
const HASH = `0x${'c0de'.repeat(16)}`

let kinds: Deployed
beforeAll(async () => {
  kinds = await deployKinds('Kinds')
})
afterAll(() => kinds.close())

/** Every slot holds ones before, which shows what a write keeps and what it clears. */
const ONES = (1n << 256n) - 1n
const nothing = () => 0n

/** path, value, what the getter answers, the getter with its arguments (the path's own without it), what is read back. */
type Case = readonly [
  path: string,
  value: VariableValue,
  answer: unknown,
  getter?: readonly [name: string, ...values: unknown[]],
]

const CASES: readonly Case[] = [
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

describe('a written variable', () => {
  const cases = CASES.map(([path, value, answer, getter]) => ({ path, value, answer, getter }))
  it.each(cases)(
    '$path has the value that the getter returns (case $#)',
    async ({ path, value, answer, getter }) => {
      const [name, ...values] = getter ?? [path]
      const writes = variableWrites(kinds.layout, path, value, nothing)
      const found = await kinds.get(writes, name, ...values)
      const lower = (each: unknown) =>
        typeof each === 'string' && each.startsWith('0x') ? each.toLowerCase() : each
      expect(lower(found)).toEqual(lower(answer))
    },
  )

  it('may be an external function, given as address and selector', async () => {
    const pointer = `${A}01020304`
    const writes = variableWrites(kinds.layout, 'callback', pointer, nothing)
    expect(await kinds.get(writes, 'callback')).toBe(pointer.padEnd(66, '0'))
  })

  it('may be a mapping, given by its keys', async () => {
    const writes = variableWrites(kinds.layout, 'balances', { [A]: 1, [B]: '2' }, nothing)
    expect([await kinds.get(writes, 'balances', A), await kinds.get(writes, 'balances', B)]).toEqual([1n, 2n])
  })

  it('may be an element of a list, or its length', async () => {
    const element = variableWrites(kinds.layout, `lists[${A}][17]`, 5, nothing)
    const length = variableWrites(kinds.layout, `lists[${A}].length`, 18, nothing)
    expect(await kinds.get(new Map([...element, ...length]), 'lists', A, 17)).toBe(5n)
  })

  it('leaves other variables in its slot unchanged', async () => {
    const read = () => ONES
    for (const [path, value, neighbours] of [
      ['small', 0, ['flag', 'signed', 'last', 'color']],
      ['point.y', 0, ['point.x', 'point.shown']],
      ['triples[3]', 0, ['triples[2]', 'triples[4]']],
      ['packed[17]', 0, ['packed[16]', 'packed[18]']],
    ] as const) {
      const writes = variableWrites(kinds.layout, path, value, read)
      const after = (slot: bigint) => writes.get(slot) ?? ONES
      expect(BigInt(readVariable(kinds.layout, path, after) as bigint), path).toBe(0n)
      for (const name of neighbours) {
        expect(readVariable(kinds.layout, name, after), name).toEqual(readVariable(kinds.layout, name, read))
      }
    }
  })

  it('leaves struct members unchanged that are not given', () => {
    const whole = variableWrites(kinds.layout, 'point', { x: 1, y: 2, shown: true }, nothing)
    const read = (slot: bigint) => whole.get(slot) ?? 0n
    const part = variableWrites(kinds.layout, 'point', { y: 3 }, read)
    expect(readVariable(kinds.layout, 'point', (slot) => part.get(slot) ?? read(slot))).toEqual({
      x: 1n,
      y: 3n,
      shown: true,
    })
  })
})

it('a name that occurs twice, in a layout with another first slot, means the last variable', async () => {
  const elsewhere = await deployKinds('Elsewhere')
  try {
    const { layout } = elsewhere
    expect(await elsewhere.get(variableWrites(layout, 'secret', 7, nothing), 'both')).toEqual([0n, 7n])
    expect(await elsewhere.get(variableWrites(layout, 'shown', 8, nothing), 'shown')).toBe(8n)
  } finally {
    await elsewhere.close()
  }
})

describe('a path that does not fit', () => {
  it.each([
    ['balnces[0x1]', 'balnces: no variable has this name; the nearest: balances'],
    ['nothingLikeThisIsThere', 'nothingLikeThisIsThere: no variable has this name'],
    ['point.z', 'point.z: no member of struct Kinds.Point has this name; the nearest: x, y'],
    ['total.x', 'total.x: uint256 has no member x'],
    ['total[1]', 'total[1]: uint256 takes no key'],
    ['triples.length', 'triples.length: uint24[7] has no member length'],
    ['triples[7]', 'triples[7]: index 7 is beyond the end of uint24[7]'],
    ['list[-1]', 'list[-1]: "-1" is no index of uint256[]'],
    ['balances[alice]', 'balances[alice]: expected address: 20 bytes in hex'],
    ['bySmall[256]', 'bySmall[256]: 256 is out of the range of uint8'],
    ['byCode[0x01]', 'byCode[0x01]: expected bytes4: 4 bytes in hex'],
    ['byFlag[1]', 'byFlag[1]: expected bool: true or false'],
    ['[1]', '[1]: expected the name of a variable'],
    ['', ': expected the name of a variable'],
    ['list[', 'list[: expected .member or [key] at "["'],
    ['list]1', 'list]1: expected .member or [key] at "]1"'],
    ['byName["\\q"]', 'byName["\\q"]: expected .member or [key] at "[\\"\\\\q\\"]"'],
    [`x${'y'.repeat(5000)}`, /^xy{127}…: a path has at most 4096 characters$/],
  ])('%s is refused', (path, message) => {
    expect(() => placeOf(kinds.layout, path)).toThrow(
      typeof message === 'string' ? new Error(message) : message,
    )
  })
})

describe('a value that does not fit', () => {
  it.each<[string, VariableValue, string]>([
    ['total', 'five', 'total: expected uint256: a number, or its text in decimal or hex'],
    ['total', 1.5, 'total: expected uint256: a number, or its text in decimal or hex'],
    ['total', -1, 'total: -1 is out of the range of uint256'],
    ['small', 256, 'small: 256 is out of the range of uint8'],
    ['signed', 32768, 'signed: 32768 is out of the range of int16'],
    ['flag', 1, 'flag: expected bool: true or false'],
    ['owner', '0x01', 'owner: expected address: 20 bytes in hex'],
    ['digest', '0x01', 'digest: expected bytes32: 32 bytes in hex'],
    ['title', 5, 'title: expected string: a text'],
    ['blob', 'text', 'blob: expected bytes: hex with 0x'],
    ['point', [1, 2], 'point: expected struct Kinds.Point: an object of its members'],
    ['point', { x: 1, z: 2 }, 'point.z: struct Kinds.Point has x, y, shown'],
    ['line', { from: { x: 'a' } }, 'line.from.x: expected int128: a number, or its text in decimal or hex'],
    ['list', 5, 'list: expected uint256[]: a list'],
    ['list', [1, 'x'], 'list[1]: expected uint256: a number, or its text in decimal or hex'],
    ['triples', [1, 2], 'triples: expected uint24[7]: a list of 7 values'],
    ['balances', 5, 'balances: expected mapping(address => uint256): an object of values by key'],
    ['balances', { x: 5 }, 'balances[x]: expected address: 20 bytes in hex'],
  ])('%s = %j is refused', (path, value, message) => {
    expect(() => variableWrites(kinds.layout, path, value, nothing)).toThrow(new Error(message))
  })

  it('is refused when the previous value is too long to erase', () => {
    expect(() => variableWrites(kinds.layout, 'list', [], () => 1n << 200n)).toThrow(
      /^list: it takes \d+ slots/,
    )
    expect(() => readVariable(kinds.layout, 'list', () => 1n << 200n)).toThrow(/^it takes \d+ slots/)
  })
})
