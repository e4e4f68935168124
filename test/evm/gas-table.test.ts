/** docs/internals/protocol.md#62-gas-schedule: the gas table, row by row, by both loops. */
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import type { MessageResult } from '../../src/evm/message.ts'
import { CONTRACT, type Given, NOBODY, OTHER, run, vms, world } from '../support/execution.ts'

const PUSH = 3n

describe.each(['own', 'library'] as const)('the %s loop', (loop) => {
  const vm = vms[loop]

  function execute(
    code: string,
    accounts: Record<Hex, Given> = {},
    gas = 1_000_000n,
  ): Promise<MessageResult> {
    const state = world({
      [CONTRACT]: { code, balance: 1000n, storage: { 1: 5n } },
      [OTHER]: {},
      ...accounts,
    })
    return run(state, { gas }, { vm })
  }

  /** Gas of a program, its pushes not counted. */
  async function gasOf(code: string, pushes: number, accounts: Record<Hex, Given> = {}): Promise<bigint> {
    const result = await execute(code, accounts)
    expect(result.status).toBe('succeeded')
    return result.gasUsed - PUSH * BigInt(pushes)
  }

  it.each([
    ['SLOAD', '0 SLOAD', 1, 200n],
    ['a second SLOAD', '0 SLOAD 0 SLOAD', 2, 400n],
    ['SSTORE of a new word', '7 0 SSTORE', 2, 20_000n],
    ['SSTORE that clears', '0 1 SSTORE', 2, 5_000n],
    ['SSTORE that changes', '6 1 SSTORE', 2, 5_000n],
    ['SSTORE of 0 on 0', '0 0 SSTORE', 2, 5_000n],
    ['SSTORE of the same word', '5 1 SSTORE', 2, 5_000n],
    ['SSTORE there and back', '6 1 SSTORE 5 1 SSTORE', 4, 10_000n],
    ['BALANCE', `${OTHER} BALANCE`, 1, 400n],
    ['EXTCODESIZE', `${OTHER} EXTCODESIZE`, 1, 700n],
    ['EXTCODECOPY of 0 bytes', `0 0 0 ${OTHER} EXTCODECOPY`, 4, 700n],
    ['EXTCODECOPY of 33 bytes', `33 0 0 ${OTHER} EXTCODECOPY`, 4, 700n + 6n + 6n],
    ['EXTCODEHASH', `${OTHER} EXTCODEHASH`, 1, 400n],
    ['SELFBALANCE', 'SELFBALANCE', 0, 5n],
    ['BLOCKHASH', '999 BLOCKHASH', 1, 20n],
    ['CALL', `0 0 0 0 0 ${OTHER} 0 CALL`, 7, 700n],
    ['CALLCODE', `0 0 0 0 0 ${OTHER} 0 CALLCODE`, 7, 700n],
    ['DELEGATECALL', `0 0 0 0 ${OTHER} 0 DELEGATECALL`, 6, 700n],
    ['STATICCALL', `0 0 0 0 ${OTHER} 0 STATICCALL`, 6, 700n],
    ['CALL with value', `0 0 0 0 1 ${OTHER} 0 CALL`, 7, 9_700n],
    ['CALLCODE with value', `0 0 0 0 1 ${OTHER} 0 CALLCODE`, 7, 9_700n],
    ['CALL to a missing account', `0 0 0 0 0 ${NOBODY} 0 CALL`, 7, 25_700n],
    ['CALL with value to a missing account', `0 0 0 0 1 ${NOBODY} 0 CALL`, 7, 34_700n],
    ['CALLCODE to a missing account', `0 0 0 0 0 ${NOBODY} 0 CALLCODE`, 7, 700n],
    ['DELEGATECALL to a missing account', `0 0 0 0 ${NOBODY} 0 DELEGATECALL`, 6, 700n],
    ['STATICCALL to a missing account', `0 0 0 0 ${NOBODY} 0 STATICCALL`, 6, 700n],
    ['CREATE with empty init code', '0 0 0 CREATE', 3, 32_000n],
    ['CREATE of 33 STOPs', '33 0 0 CREATE', 3, 32_000n + 2n * 2n + 6n],
    ['CREATE2 with empty init code', '0 0 0 0 CREATE2', 4, 32_000n],
    ['CREATE2 of 33 STOPs', '0 33 0 0 CREATE2', 4, 32_000n + 2n * 8n + 6n],
    ['SELFDESTRUCT to somebody', `${OTHER} SELFDESTRUCT`, 1, 5_000n],
    ['SELFDESTRUCT to a missing account', `${NOBODY} SELFDESTRUCT`, 1, 30_000n],
    ['TLOAD', '0 TLOAD', 1, 100n],
    ['TSTORE', '1 0 TSTORE', 2, 100n],
    ['EXP by one byte', '255 2 EXP', 2, 60n],
    ['EXP by two bytes', '256 2 EXP', 2, 110n],
    ['EXP by 0', '0 2 EXP', 2, 10n],
    ['SHA3 of 33 bytes', '33 0 SHA3', 2, 30n + 12n + 6n],
    ['LOG2 of 5 bytes', '0 0 5 0 LOG2', 4, 375n * 3n + 40n + 3n],
    ['CALLDATACOPY of 33 bytes', '33 0 0 CALLDATACOPY', 3, 3n + 6n + 6n],
    ['MCOPY of 33 bytes', '33 0 0 MCOPY', 3, 3n + 6n + 6n],
    ['MCOPY from further on', '1 64 0 MCOPY', 3, 3n + 3n + 9n],
    ['memory of 1024 words', '32736 MLOAD', 1, 3n + 3n * 1024n + 2048n],
    ['JUMPDEST', 'a:', 0, 1n],
    ['JUMP', '@a JUMP a:', 1, 9n],
    ['JUMPI', '1 @a JUMPI a:', 2, 11n],
    ['ADD', '1 2 ADD', 2, 3n],
    ['MUL', '1 2 MUL', 2, 5n],
    ['ADDMOD', '1 2 3 ADDMOD', 3, 8n],
    ['MULMOD', '1 2 3 MULMOD', 3, 8n],
    ['DUP1', '1 DUP1', 1, 3n],
    ['SWAP1', '1 2 SWAP1', 2, 3n],
    ['POP', '1 POP', 1, 2n],
    ['PUSH0', 'PUSH0', 0, 2n],
    ['CALLER', 'CALLER', 0, 2n],
  ])('%s', async (_, code, pushes, expected) => {
    expect(await gasOf(code, pushes)).toBe(expected)
  })

  it('an SSTORE with 2,300 gas left is allowed when the gas covers its price', async () => {
    // No sentry: 5,000 gas is enough although less than 2,300 stays.
    expect(await execute('6 1 SSTORE', {}, 5_006n)).toMatchObject({ status: 'succeeded', gasUsed: 5_006n })
    expect(await execute('6 1 SSTORE', {}, 5_005n)).toMatchObject({ failure: 'out of gas' })
  })

  it('refunds are 15,000 for a cleared slot and 24,000 for a destruction, once each', async () => {
    expect((await execute('0 1 SSTORE')).refund).toBe(15_000n)
    expect((await execute('0 0 SSTORE')).refund).toBe(0n)
    expect((await execute('0 1 SSTORE 1 1 SSTORE 0 1 SSTORE')).refund).toBe(30_000n)
    const twice = `0 0 0 0 0 ${OTHER} 50000 CALL 0 0 0 0 0 ${OTHER} 50000 CALL`
    expect((await execute(twice, { [OTHER]: { code: 'CALLER SELFDESTRUCT' } })).refund).toBe(24_000n)
  })

  it('the stipend is charged to the caller', async () => {
    const child = { [OTHER]: { code: 'a: @a JUMP' } }
    // Gas asked for: 1,000; the child burns it and the stipend.
    const used = await gasOf(`0 0 0 0 1 ${OTHER} 1000 CALL`, 7, child)
    expect(used).toBe(9_700n + 1_000n + 2_300n)
  })

  it('a call with value is out of gas when less than 2,300 is left after its own cost', async () => {
    const code = `0 0 0 0 1 ${OTHER} 0 CALL`
    const cost = 7n * PUSH + 9_700n
    expect(await execute(code, {}, cost + 2_300n)).toMatchObject({ status: 'succeeded', gasUsed: cost })
    expect(await execute(code, {}, cost + 2_299n)).toMatchObject({ failure: 'out of gas' })
  })

  it('a callee may get all remaining gas, without the 63/64 rule', async () => {
    const code = `0 0 0 0 0 ${OTHER} 0xffffffffffff CALL`
    const result = await execute(code, { [OTHER]: { code: '#fe' } })
    expect(result).toMatchObject({ status: 'succeeded', gasUsed: 1_000_000n })
  })

  it('a callee gets no more gas than requested', async () => {
    const code = `0 0 0 0 0 ${OTHER} 5000 CALL`
    expect(await gasOf(code, 7, { [OTHER]: { code: '#fe' } })).toBe(5_700n)
  })

  it('a creation gets all remaining gas', async () => {
    const result = await execute('0xfe 0 MSTORE 1 31 0 CREATE')
    expect(result).toMatchObject({ status: 'succeeded', gasUsed: 1_000_000n })
  })

  it('deposited code costs 200 a byte', async () => {
    // Init code that returns 5 zero bytes.
    const code = '0x60056000f3 0 MSTORE 5 27 0 CREATE'
    expect(await gasOf(code, 5)).toBe(3n + 3n + 32_000n + 2n + (6n + 3n) + 5n * 200n)
  })

  it('memory beyond the price of any gas limit is out of gas', async () => {
    expect(await execute('0x40000000 MLOAD')).toMatchObject({ failure: 'out of gas' })
    expect(await execute('0 NOT MLOAD')).toMatchObject({ failure: 'out of gas' })
    expect(await execute('0 NOT 0 0 CALLDATACOPY')).toMatchObject({ failure: 'out of gas' })
  })
})
