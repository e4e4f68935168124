/** Both EVMs on the same messages: random ones at random heights of the main network, and planted differences. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHAINS, PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { createBothVm } from '../../src/ethereumjs/both.ts'
import { OPERATIONS, opcodeTable } from '../../src/evm/opcodes/table.ts'
import { CHAIN_RULES, type VmRules, vmRulesOf } from '../../src/evm/rules.ts'
import { assemble } from '../support/assembler.ts'
import { observeOurs } from '../support/differential.ts'
import { CONTRACT, OTHER, run, world } from '../support/execution.ts'
import { situations } from '../support/random-situations.ts'

const { RANDOM_RUNS } = process.env

/** A height of each stretch of the main network between two changes of its rules. */
const HEIGHTS = [0, 729_000, 1_052_700, 1_591_000, 2_018_000, 2_392_700, 3_614_800, 4_598_500, 5_468_000]
HEIGHTS.push(6_223_700, 7_338_024, 8_052_200, 8_804_200)

describe('both EVMs', () => {
  it('give the same result at every height of the main network', async () => {
    const vm = createBothVm({ chainId: 30, rulesAt: vmRulesOf(CHAINS.mainnet) })
    const heights = fc.constantFrom(...HEIGHTS)
    const seed = Date.now() % 2 ** 31
    await fc.assert(
      fc.asyncProperty(situations('chain'), heights, async (situation, number) => {
        // It throws where they differ.
        await observeOurs({ ...situation, env: { ...situation.env, number } }, vm)
      }),
      { numRuns: Number(RANDOM_RUNS ?? 200), seed },
    )
  })

  it.each<[string, string]>([
    ['code with a header that looks like a push', '0xfc 0x01 0x00 0x01 0x60 5 JUMP'],
    ['a creation whose init code begins with 0xef00', 'PUSH2 0xef00 PUSH1 240 SHL 0 MSTORE 2 0 0 CREATE'],
    ['a call of a precompiled contract', `0 0 MSTORE 32 0 32 0 0 2 GAS CALL 32 0 RETURN`],
    ['a log in addition to those of a callee', `0 0 LOG0 0 0 0 0 0 ${OTHER} GAS CALL 0 0 LOG0`],
    ['return data after a call that is too deep', `0 0 0 0 0 ${CONTRACT} GAS CALL RETURNDATASIZE 0 MSTORE`],
    ['CODECOPY and CODESIZE', 'CODESIZE 0 0 CODECOPY CODESIZE 0 RETURN'],
    ['a destroyed contract', `${OTHER} SUICIDE`],
  ])('give the same result with %s', async (_, text) => {
    const vm = createBothVm({ chainId: 33 })
    const code = text.startsWith('0xfc')
      ? Uint8Array.from([0xfc, 1, 0, 1, 0x60, 0x60, 7, 0x56, 0x5b, 0x38, 0x5f, 0x5f, 0x39, 0x38, 0x5f, 0xf3])
      : assemble(text)
    const state = world({
      [CONTRACT]: { code, balance: 9n },
      [OTHER]: { code: '1 0 LOG0 1 0 MSTORE 32 0 RETURN' },
    })
    await expect(run(state, { gas: 2n ** 33n, value: 1n }, { vm })).resolves.toBeDefined()
  })

  it('leave the same state as either of them alone', async () => {
    const vm = createBothVm({ chainId: 33 })
    const state = world({ [CONTRACT]: { code: '7 1 SSTORE', storage: { 2: 5n } } })
    await run(state, { value: 3n }, { vm })
    expect(state.storage(CONTRACT, 1n)).toBe(7n)
    expect(state.storage(CONTRACT, 2n)).toBe(5n)
    expect(state.account(CONTRACT)?.balance).toBe(3n)
  })
})

describe('a difference', () => {
  const rules: VmRules = {
    ...CHAIN_RULES,
    opcodes: opcodeTable([
      ...OPERATIONS,
      // SLOAD that costs one more and ADD that subtracts.
      ...OPERATIONS.filter(({ code }) => code === 0x54).map((operation) => ({ ...operation, fee: 201 })),
      ...OPERATIONS.filter(({ name }) => name === 'SUB').map((operation) => ({
        ...operation,
        code: 0x01,
        name: 'ADD',
      })),
    ]),
  }
  const vm = createBothVm({ chainId: 33, rulesAt: () => rules })
  const message = (code: string) => run(world({ [CONTRACT]: { code } }), {}, { vm })

  it('of gas is reported with the first step that differs', async () => {
    await expect(message('1 SLOAD 2 POP')).rejects.toMatchObject({
      kind: 'execution-differs',
      message:
        'execution differs: a message in block 1000: gas used: 209 by tandem, 208 by ethereumjs; ' +
        'step 2 is PUSH1 at 3, depth 0, gas 999796 by tandem, PUSH1 at 3, depth 0, gas 999797 by ethereumjs',
      data: { rule: 'gas used', height: 1000, expected: '208', found: '209' },
    })
  })

  it('of the state names the cell', async () => {
    await expect(message('5 7 ADD 0 SSTORE')).rejects.toMatchObject({
      message: `execution differs: a message in block 1000: slot 0 of ${CONTRACT}: 0x02 by tandem, 0x0c by ethereumjs; all steps are the same`,
    })
  })

  it('leaves the state unchanged, and traced runs are not compared', async () => {
    const state = world({ [CONTRACT]: { code: '5 7 ADD 0 SSTORE' } })
    await expect(run(state, { value: 1n }, { vm })).rejects.toMatchObject({ kind: 'execution-differs' })
    expect(state.account(CONTRACT)?.balance).toBe(0n)
    const traced = await run(state, {}, { vm, tracer: {} })
    expect(traced.status).toBe('succeeded')
  })

  it('in a precompiled contract is not reported', async () => {
    const code = `0 0 MSTORE 32 0 32 0 0 ${PRECOMPILE_ADDRESS.remasc} GAS CALL`
    await expect(
      run(world({ [CONTRACT]: { code } }), {}, { vm: createBothVm({ chainId: 33 }) }),
    ).resolves.toBeDefined()
  })
})
