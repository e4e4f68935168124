/** Variables of each kind of type: written by the layout that solc made, read back by the contract's own getters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VariableError } from '../../../src/abi/storage/path.ts'
import { placeOf } from '../../../src/abi/storage/place.ts'
import { readVariable } from '../../../src/abi/storage/read.ts'
import type { VariableValue } from '../../../src/abi/storage/value-type.ts'
import { variableWrites } from '../../../src/abi/storage/write.ts'
import { A, B, KIND_CASES } from '../../support/kind-cases.ts'
import { type Deployed, deployKinds } from '../../support/kinds.ts'

let kinds: Deployed
beforeAll(async () => {
  kinds = await deployKinds('Kinds')
})
afterAll(() => kinds.close())

/** Every slot holds ones before, which shows what a write keeps and what it clears. */
const ONES = (1n << 256n) - 1n
const nothing = () => 0n

describe('a written variable', () => {
  const cases = KIND_CASES.map(([path, value, answer, getter]) => ({ path, value, answer, getter }))
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
    ['list[-1]', 'list[-1]: "-1" is not an index of uint256[]'],
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
      typeof message === 'string' ? new VariableError(message) : message,
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
    expect(() => variableWrites(kinds.layout, path, value, nothing)).toThrow(new VariableError(message))
  })

  it('is refused when the previous value is too long to erase', () => {
    expect(() => variableWrites(kinds.layout, 'list', [], () => 1n << 200n)).toThrow(
      /^list: it takes \d+ slots/,
    )
    expect(() => readVariable(kinds.layout, 'list', () => 1n << 200n)).toThrow(/^list: it takes \d+ slots/)
  })
})
