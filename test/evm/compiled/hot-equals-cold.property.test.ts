/**
 * What code does is the same whether it is compiled, and when: random programs at thresholds of 1 to 30, against the
 * interpreter alone. Programs are new in each run; fast-check prints the seed and the smallest that fails, and
 * `HOT_SEED=<seed>` runs them again. `HOT_RUNS=100000` runs that many.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { HotCode } from '../../../src/evm/compiled/hot-code.ts'
import { PathCounter } from '../../../src/evm/compiled/paths.ts'
import type { Operation } from '../../../src/evm/opcodes/operation.ts'
import { OPERATIONS } from '../../../src/evm/opcodes/table.ts'
import { RunClock } from '../../../src/evm/scheduler.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import { assemble } from '../../support/assembler.ts'
import { CONTRACT, OTHER, run, world } from '../../support/execution.ts'
import { anyGas, hotPrograms } from '../../support/hot-programs.ts'

const { HOT_SEED, HOT_RUNS = '40' } = process.env
const PARAMETERS = { numRuns: Number(HOT_RUNS), ...(HOT_SEED !== undefined && { seed: Number(HOT_SEED) }) }

const paths = new PathCounter()
const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
/** By threshold; one store of compiled code for each run, so that nothing is hot before it. */
const hotVm = (hotAfter: number) => createVm({ chainId: 33, hotAfter, hotCode: new HotCode(paths) })

interface Given {
  readonly main: Uint8Array
  readonly other: Uint8Array
  readonly gas: bigint
}

const DATA = Uint8Array.from({ length: 96 }, (_, i) => (i % 32 > 29 ? i : 0))

/** With so much gas, a program that calls itself would not end. */
const DEADLINE_MS = 3000

/** All that a message does, three times over, so that code that got hot in one runs on in the next. */
async function observe(vm: ReturnType<typeof createVm>, { main, other, gas }: Given) {
  const seen = []
  const before = world({
    [CONTRACT]: { code: main.slice(), balance: 1000n, nonce: 1n, storage: { 1: 7n } },
    [OTHER]: { code: other.slice(), balance: 50n, nonce: 1n, storage: { 2: 9n } },
  })
  for (let i = 0; i < 3; i++) {
    const state = new Overlay(before)
    const result = await run(state, { gas, value: 3n, data: DATA }, { vm, deadlineMs: DEADLINE_MS })
    seen.push({ ...result, ...state.changes() })
  }
  return seen
}

async function agree(given: Given, hotAfter: number): Promise<void> {
  const expected = await observe(interpreted, given).catch(() => undefined)
  fc.pre(expected !== undefined)
  const observed = await observe(hotVm(hotAfter), given)
  // `toEqual` looks at each byte of each log by itself, which takes minutes where a program with much gas logs megabytes.
  if (!isDeepStrictEqual(observed, expected)) expect(observed).toEqual(expected)
}

/** Opcodes that never wait, so that no code leaves after them. */
const NEVER_WAIT = ['LOG0', 'LOG1', 'LOG2', 'LOG3', 'LOG4', 'TLOAD', 'TSTORE'].map(
  (name) => `${name}: leaves`,
)

const { mustPause } = RunClock.prototype
afterEach(() => {
  RunClock.prototype.mustPause = mustPause
})

/** Runs pause wherever they look at the clock, which is as often as can be. */
function pauseEverywhere(): void {
  RunClock.prototype.mustPause = function () {
    this.ticks = 0.001
    return true
  }
}

/** Repeats code 60 times. */
const often = (code: string) => `60 255 TSTORE again: ${code} 1 255 TLOAD SUB DUP1 255 TSTORE @again JUMPI`
const words = (count: number) =>
  Array.from({ length: count }, (_, i) => `0x${(i + 2).toString(16)}`).join(' ')
/** The same number from behind the call data, which is not known when code is compiled. */
const unknown = (value: string) => `96 CALLDATALOAD ${value} OR`

/** Values of operands for every opcode. */
const VALUES = ['0', '64', '0x1234567890abcdef12', `0x${'f3'.repeat(32)}`]

/** An opcode with operands of one value, known or not, and what it leaves taken off again. */
function everyOperand({ code, name, pops, pushes }: Operation): string[] {
  if (code >= 0x60 && code <= 0x7f) return [often(`${name} 0x${'7'.repeat(2 * (code - 0x5f))} POP`)]
  if (code >= 0x80 && code <= 0x8f)
    return [`${words(17)} ${often(`${name} POP CALLDATASIZE ${name} POP POP`)}`]
  if (code >= 0x90 && code <= 0x9f) return [`${words(17)} ${often(`${name} CALLDATASIZE ${name} POP`)}`]
  if (code === 0x56) return [often(`@on ${name} on:`)]
  if (code === 0x57) return [often(`0 @on ${name} on: 1 @off ${name} off:`)]
  const drops = 'POP '.repeat(pushes)
  return VALUES.flatMap((value) => [value, unknown(value)]).map((operand) =>
    often(`${`${operand} `.repeat(pops)} ${name} ${drops}`),
  )
}

const CALLEE = '1 SLOAD 1 ADD 1 SSTORE 7 0 MSTORE 32 0 RETURN'

/** Programs for the ways that operands alone do not lead to. */
const DIRECTED: readonly string[] = [
  ...['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'].map((kind) => {
    const value = kind === 'CALL' || kind === 'CALLCODE' ? '0' : ''
    return often(`32 0 0 0 ${value} ${OTHER} 60000 ${kind} POP 8 0 4 RETURNDATACOPY`)
  }),
  // Storage: written again, equal, in both places of an entry, more than there is room for.
  often('GAS 1 SSTORE GAS 1 SSTORE 1 SLOAD 1 SSTORE 0 1 SSTORE'),
  often('255 TLOAD DUP1 100 MUL SSTORE 255 TLOAD SLOAD 300 MOD DUP1 DUP1 SSTORE SLOAD POP'),
  `2 outer: 900 again: DUP1 SLOAD POP 1 SWAP1 SUB DUP1 @again JUMPI POP 1 SWAP1 SUB DUP1 @outer JUMPI`,
  often('77 7 SSTORE 77 7 SSTORE 7 SLOAD POP'),
  // Hashes: of two lengths, long, of memory that is not open.
  often(
    '255 TLOAD 0 MSTORE 64 0 SHA3 64 0 SHA3 POP POP 40 3 SHA3 POP 700 0 SHA3 POP 32 255 TLOAD 2000 MUL SHA3 POP',
  ),
  // Memory that opens in each round, at offsets that are known and that are not.
  often(
    '255 TLOAD 61 SUB 3000 MUL MLOAD POP 1 255 TLOAD 61 SUB 3000 MUL MSTORE 1 255 TLOAD 61 SUB 3000 MUL MSTORE8',
  ),
  ...['MLOAD POP', '1 SWAP1 MSTORE', '1 SWAP1 MSTORE8'].flatMap((use) =>
    ['0x40000000', '0x800000', '0x8000', '2'].flatMap((at) => [
      often(`${at} ${use}`),
      often(`${unknown(at)} ${use}`),
    ]),
  ),
  // Jumps: to places that are not known, to no destination, seldom and mostly taken, at the start, to nowhere.
  often(`${unknown('0')} @on ADD JUMP on:`),
  often(`${unknown('0')} @on ADD 1 SWAP1 JUMPI on:`),
  often('1 JUMP'),
  often('255 TLOAD 30 EQ 1 JUMPI'),
  often('1 255 TLOAD 30 EQ MUL 0xffffffffff JUMPI'),
  often('255 TLOAD 15 AND @on JUMPI 1 POP on: 255 TLOAD 15 AND ISZERO @off JUMPI 2 POP off:'),
  often('0 1 JUMPI 1 @on JUMPI on:'),
  '0 again: 1 ADD DUP1 3000 LT @end JUMPI @again JUMP end: STOP',
  // Powers take so long that the clock is looked at; copies then take longer than nothing.
  often('0 NOT DUP1 EXP POP 512 0 0 CALLDATACOPY 512 0 0 CODECOPY 512 0 0 MCOPY'),
  '1 1 JUMPI STOP',
  '0 again: 1 ADD DUP1 3000 GT @again JUMPI 0 MSTORE 32 0 RETURN',
  '3 again: DUP1 again2: POP 1 SWAP1 SUB DUP1 @again JUMPI',
  // Stacks that overflow and underflow in a loop.
  often('1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20'),
  `${words(40)} ${often('POP')}`,
  // Long code: without jumps, and round the same places.
  often('CALLDATASIZE DUP1 MUL POP '.repeat(300)),
  often('PUSH0 POP '.repeat(600)),
  'again: @two JUMP two: @three JUMP three: 1 4 TLOAD ADD DUP1 4 TSTORE 50 GT @again JUMPI 0 0 REVERT',
]

/** Much, and some that end before the loop does. */
const GASES = [2_000_000n, 90_000n, 21_000n, 3_333n, 2n ** 53n - 1n]

const given = (code: string, gas = 2_000_000n): Given => ({
  main: assemble(code),
  other: assemble(CALLEE),
  gas,
})

describe('compiled code', () => {
  it('gives the same result as the interpreter at any threshold and with any gas', async () => {
    const given = fc.record({ main: hotPrograms(false), other: hotPrograms(true), gas: anyGas })
    await fc.assert(fc.asyncProperty(fc.noBias(given), fc.integer({ min: 1, max: 30 }), agree), PARAMETERS)
  })

  it.each(OPERATIONS.map((row) => [row.name, row] as const))(
    'gives the same result as the interpreter: %s',
    async (_, row) => {
      for (const code of everyOperand(row)) await agree(given(code), 0)
      pauseEverywhere()
      for (const code of everyOperand(row).slice(0, 3)) await agree(given(code), 5)
    },
  )

  it('gives the same result as the interpreter on its remaining paths', async () => {
    for (const code of DIRECTED)
      for (const hotAfter of [0, 4, 25]) for (const gas of GASES) await agree(given(code, gas), hotAfter)
    pauseEverywhere()
    for (const code of DIRECTED) await agree(given(code), 4)
  })

  it('has taken every path', () => {
    const counts = paths.counts()
    const isWritten = (name: string) => [...counts.keys()].some((path) => path.startsWith(`${name}: `))
    expect(OPERATIONS.flatMap(({ name }) => (isWritten(name) ? [] : [name]))).toEqual([])
    expect([...counts].flatMap(([path, count]) => (count === 0 ? [path] : [])).sort()).toEqual(NEVER_WAIT)
  })
})
