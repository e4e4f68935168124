/**
 * docs/internals/protocol.md#64-code-header, docs/internals/protocol.md#65-precompiled-contracts: code headers, and how native
 * contracts are called, by both loops.
 */
import { describe, expect, it } from 'vitest'
import { EMPTY_CODE_HASH } from '../../src/chain/account.ts'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { PRECOMPILES } from '../../src/evm/precompiles/table.ts'
import { assemble } from '../support/assembler.ts'
import {
  CONTRACT,
  type Given,
  OTHER,
  RETURN_TOP,
  run,
  SENDER,
  vms,
  word,
  world,
} from '../support/execution.ts'

const CALL_STACK_DEPTH = keccakHex(new TextEncoder().encode('getCallStackDepth()')).slice(0, 10)
const { sha256, identity, blake2f, ecrecover, environment, bn128Add } = PRECOMPILE_ADDRESS

describe.each(['own', 'library'] as const)('precompiled contracts in the %s loop', (loop) => {
  const vm = vms[loop]

  const execute = (code: string, others: Record<Hex, Given> = {}) =>
    run(world({ [CONTRACT]: { code, balance: 100n }, [sha256]: {}, [identity]: {}, ...others }), {}, { vm })

  const top = async (code: string) => word(await execute(`${code} ${RETURN_TOP}`))

  it('every address of the table is a precompiled contract, and 0x0a is not', () => {
    expect(new Set(PRECOMPILES.keys())).toEqual(new Set(Object.values(PRECOMPILE_ADDRESS)))
    expect(PRECOMPILES.has('0x000000000000000000000000000000000000000a')).toBe(false)
  })

  it('costs the required gas and returns its output', async () => {
    const result = await execute(`32 0 64 0 0 ${identity} 50000 CALL`)
    expect(result.gasUsed).toBe(7n * 3n + 6n + 700n + 15n + 2n * 3n)
    expect(await top(`77 0 MSTORE 32 32 32 0 0 ${identity} 50000 CALL POP 32 MLOAD`)).toBe(77n)
  })

  it('returns 0 and takes all given gas when it requires more', async () => {
    // sha256 of nothing takes 60.
    const code = (gas: number) => `0 0 0 0 0 ${sha256} ${gas} CALL`
    expect(await top(code(60))).toBe(1n)
    expect(await top(code(59))).toBe(0n)
    expect((await execute(code(59))).gasUsed).toBe(7n * 3n + 700n + 59n)
  })

  it('returns 0, undoes the state and takes only the required gas on an execution error (RSKIP-197)', async () => {
    // A point that is not on the curve; the account is new, so 25,000 for its making.
    const bad = `1 0 MSTORE 0 0 128 0 7 ${bn128Add} 50000 CALL`
    expect(await top(bad)).toBe(0n)
    const state = world({ [CONTRACT]: { code: bad, balance: 100n }, [bn128Add]: {} })
    const result = await run(state, {}, { vm })
    expect(result.gasUsed).toBe(9n * 3n + 3n + 700n + 9_000n + 12n + 150n)
    expect(state.account(bn128Add)?.balance).toBe(0n)
    expect(await top(`${bad} POP RETURNDATASIZE`)).toBe(0n)
  })

  it('input from a contract is truncated to the maximum that is read (RSKIP-516)', async () => {
    // 214 bytes: one too many for blake2f, which a contract's call cuts.
    expect(await top(`0 0 214 0 0 ${blake2f} 50000 CALL`)).toBe(1n)
    expect(await top(`0 0 212 0 0 ${blake2f} 50000 CALL`)).toBe(0n)
    const direct = await run(world({ [blake2f]: {} }), { to: blake2f, data: new Uint8Array(214) }, { vm })
    expect(direct).toMatchObject({ status: 'failed', precompileFailed: true, gasUsed: 0n })
    expect(PRECOMPILES.get(ecrecover)?.maxInputFromContract).toBe(128)
  })

  it('runs under DELEGATECALL, CALLCODE and STATICCALL as well', async () => {
    for (const kind of ['DELEGATECALL', 'STATICCALL']) {
      expect(await top(`5 0 MSTORE 32 32 32 0 ${identity} 50000 ${kind} POP 32 MLOAD`)).toBe(5n)
    }
    expect(await top(`5 0 MSTORE 32 32 32 0 1 ${identity} 50000 CALLCODE POP 32 MLOAD`)).toBe(5n)
  })

  it('the environment contract returns the depth of its caller, from 1', async () => {
    const ask = `${CALL_STACK_DEPTH}${'0'.repeat(56)} 0 MSTORE 32 0 4 0 0 ${environment} 50000 CALL POP 0 MLOAD`
    expect(await top(ask)).toBe(1n)
    const others = { [OTHER]: { code: `${ask} ${RETURN_TOP}` } }
    const nested = await execute(`32 0 0 0 0 ${OTHER} 200000 CALL POP 0 MLOAD ${RETURN_TOP}`, others)
    expect(word(nested)).toBe(2n)
  })

  it('EXTCODESIZE is the largest word, EXTCODEHASH the hash of empty code, and EXTCODECOPY copies zeros (RSKIP-90)', async () => {
    for (const address of [identity, environment]) {
      expect(await top(`${address} EXTCODESIZE`)).toBe(2n ** 256n - 1n)
      expect(await top(`${address} EXTCODEHASH`)).toBe(BigInt(EMPTY_CODE_HASH))
      expect(await top(`0 NOT 0 MSTORE 32 0 0 ${address} EXTCODECOPY 0 MLOAD`)).toBe(0n)
    }
  })

  it('EXTCODEHASH is 0 without an account, and the hash of empty code without code', async () => {
    expect(await top(`${OTHER} EXTCODEHASH`)).toBe(0n)
    expect(await top(`${SENDER} EXTCODEHASH`)).toBe(BigInt(EMPTY_CODE_HASH))
  })
})

describe.each(['own', 'library'] as const)('code with a header in the %s loop', (loop) => {
  const vm = vms[loop]

  /** Header of 4 + e bytes in front of a program. */
  const headed = (extension: string, program: string) =>
    Uint8Array.from([
      0xfc,
      1,
      1,
      extension.length / 2,
      ...Buffer.from(extension, 'hex'),
      ...assemble(program),
    ])

  const execute = (code: Uint8Array) => run(world({ [CONTRACT]: { code } }), {}, { vm })

  it('runs from after it', async () => {
    expect(word(await execute(headed('5b5b', `42 ${RETURN_TOP}`)))).toBe(42n)
    expect(word(await execute(headed('', `43 ${RETURN_TOP}`)))).toBe(43n)
  })

  it('cannot be jumped into', async () => {
    // The library's loop knows no header when it looks for jump destinations; behind it both agree.
    if (loop === 'own') {
      expect(await execute(headed('5b5b', '4 JUMP'))).toMatchObject({ failure: 'invalid JUMP' })
    }
    expect(await execute(headed('5b5b', `9 JUMP #5b ${RETURN_TOP}`))).toMatchObject({
      failure: 'stack underflow',
    })
  })

  it('shorter than four bytes is not a header, and a header without a program stops', async () => {
    expect(await execute(Uint8Array.of(0xfc, 0, 0))).toMatchObject({ failure: 'invalid opcode' })
    expect(await execute(Uint8Array.of(0xfc, 0, 0, 9))).toMatchObject({ status: 'succeeded', gasUsed: 0n })
  })
})
