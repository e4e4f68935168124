/** Storage in compiled code against the interpreter: several contracts that store, load, call each other and fail. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import { CONTRACT, OTHER, RETURN_TOP, run, SENDER, world } from '../../support/execution.ts'

const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
const compiled = createVm({ chainId: 33, hotAfter: 0 })

const THIRD: Hex = `0x${'7'.padStart(40, '0')}`
/** Each calls those behind it only, so that all runs end. */
const CONTRACTS = [CONTRACT, OTHER, THIRD]

const slot = fc.constantFrom(0n, 1n, 2n, 2n ** 64n, 2n ** 255n)
const value = fc.constantFrom(0n, 0n, 1n, 2n, 2n ** 64n, 2n ** 200n + 5n)
const place = fc.nat(7).map((i) => 32 * i)

/** Assembly of one step of the contract of this index. */
function action(index: number): fc.Arbitrary<string> {
  const store = fc.tuple(value, slot).map(([value, slot]) => `${value} ${slot} SSTORE`)
  const load = fc.tuple(slot, place).map(([slot, at]) => `${slot} SLOAD ${at} MSTORE`)
  const callees = CONTRACTS.slice(index + 1)
  if (callees.length === 0) return fc.oneof(store, load)
  const call = fc
    .tuple(
      fc.constantFrom('CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'),
      fc.constantFrom(...callees),
      fc.constantFrom(0, 1, 64),
      fc.constantFrom(3_000, 30_000, 400_000),
      place,
    )
    .map(([kind, callee, output, gas, at]) => {
      const noValue = kind === 'CALL' || kind === 'CALLCODE' ? '0' : ''
      return `${output} ${at} 0 0 ${noValue} ${BigInt(callee)} ${gas} ${kind} ${at} MSTORE`
    })
  return fc.oneof(
    { weight: 3, arbitrary: store },
    { weight: 3, arbitrary: load },
    { weight: 2, arbitrary: call },
  )
}

const ending = fc.constantFrom(
  'STOP',
  '256 0 RETURN',
  '256 0 RETURN',
  '64 0 REVERT',
  'POP POP',
  `${BigInt(SENDER)} SUICIDE`,
)

/** Code that does all its steps twice. */
function program(index: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(action(index), { minLength: 1, maxLength: 14 }), ending)
    .map(([actions, end]) => `2 loop: ${actions.join(' ')} 1 SWAP1 SUB DUP1 @loop JUMPI ${end}`)
}

const world3 = fc.tuple(
  ...CONTRACTS.map((_, index) => fc.record({ code: program(index), first: value, second: value })),
)

describe('storage in compiled code', () => {
  it('is the same as after the interpreter', async () => {
    await fc.assert(
      fc.asyncProperty(world3, async (contracts) => {
        const observe = async (vm: typeof compiled) => {
          const given = CONTRACTS.map((address, i) => {
            const { code = '', first = 0n, second = 0n } = contracts[i] ?? {}
            return [address, { code, storage: { 0: first, 1: second } }] as const
          })
          const state = new Overlay(world(Object.fromEntries(given)))
          const { status, failure, gasUsed, refund, output, destroyed } = await run(
            state,
            { gas: 2_000_000n },
            { vm },
          )
          const { storage } = state.changes()
          return { status, failure, gasUsed, refund, output, destroyed, storage }
        }
        expect(await observe(compiled)).toEqual(await observe(interpreted))
      }),
      { numRuns: 400, seed: 11 },
    )
  })

  it('is correct with more cells than the cache holds', async () => {
    const code = `3000 fill: DUP1 7 MUL DUP2 SSTORE 1 SWAP1 SUB DUP1 @fill JUMPI
      3000 sum: DUP1 SLOAD 1 ADD DUP2 SSTORE DUP1 SLOAD DUP3 ADD SWAP2 POP 1 SWAP1 SUB DUP1 @sum JUMPI
      POP ${RETURN_TOP}`
    const results = []
    for (const vm of [interpreted, compiled]) {
      const state = world({ [CONTRACT]: { code } })
      const { status, failure, gasUsed, output } = await run(state, { gas: 10n ** 9n }, { vm })
      results.push({ status, failure, gasUsed, output, storage: state.changes().storage })
    }
    expect(results[0]).toMatchObject({ status: 'succeeded' })
    expect(results[1]).toEqual(results[0])
  })
})
