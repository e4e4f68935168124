/** Where compiled code begins and ends: hot loops, failures, pauses, memory of several frames. */
import { describe, expect, it } from 'vitest'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, OTHER, RETURN_TOP, run, stepping, word, world } from '../../support/execution.ts'

const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
const hot = createVm({ chainId: 33, hotAfter: 10 })
const compiled = createVm({ chainId: 33, hotAfter: 0 })

/** Counts down from a number and adds it all up; the sum is on top at the end. */
const sum = (from: number) =>
  `0 ${from} JUMPDEST DUP1 SWAP2 ADD SWAP1 1 SWAP1 SUB DUP1 ${from > 255 ? 5 : 4} JUMPI POP ${RETURN_TOP}`

async function everywhere(code: string, gas: bigint, others = {}) {
  const results = []
  for (const vm of [interpreted, hot, compiled]) {
    const state = world({ [CONTRACT]: { code, balance: 100n }, ...others })
    const { status, failure, gasUsed, output, logs } = await run(state, { gas }, { vm })
    results.push({ status, failure, gasUsed, output, logs, storage: state.storage(CONTRACT, 1n) })
  }
  return results
}

describe('compiled code', () => {
  it('takes over from the interpreter in the middle of a loop', async () => {
    const [plain, ...others] = await everywhere(sum(2000), 1_000_000n)
    expect(plain?.status).toBe('succeeded')
    expect(BigInt(`0x${Buffer.from(plain?.output ?? []).toString('hex')}`)).toBe(2001n * 1000n)
    for (const other of others) expect(other).toEqual(plain)
  })

  it('runs out of gas at the same opcode, whatever the gas', async () => {
    const code = '0 JUMPDEST 1 ADD DUP1 DUP1 DUP1 1 SSTORE 7 MUL MSTORE DUP1 100 GT 2 JUMPI 0 0 REVERT'
    for (let gas = 4000n; gas < 60_000n; gas += 1237n) {
      const [plain, ...others] = await everywhere(code, gas)
      for (const other of others) expect(other).toEqual(plain)
    }
  })

  it('fails at the stack limits like the interpreter', async () => {
    for (const code of [
      'JUMPDEST 1 0 JUMP',
      '1 1 JUMPDEST POP 4 JUMP',
      'JUMPDEST 3 JUMP',
      'JUMPDEST 1 ADD',
    ]) {
      const [plain, ...others] = await everywhere(code, 500_000n)
      expect(plain?.status).toBe('failed')
      for (const other of others) expect(other).toEqual(plain)
    }
  })

  it('refuses memory beyond the limit, however much gas there is', async () => {
    // One byte more than 2^30, of which all would cost 2.2e12 gas: offsets that are known and that are not.
    for (const access of [
      '0x40000000 MLOAD',
      '0x3fffffe1 MLOAD',
      '1 0x40000000 MSTORE',
      '1 0x40000000 MSTORE8',
    ])
      for (const offset of [access, access.replace(/(0x\w+)/, '0 CALLDATALOAD $1 ADD')]) {
        const [plain, ...others] = await everywhere(`${offset} STOP`, 2n ** 53n - 1n)
        expect(plain).toMatchObject({ status: 'failed', failure: 'out of gas', gasUsed: 2n ** 53n - 1n })
        for (const other of others) expect(other).toEqual(plain)
      }
  })

  it('gives each frame its own memory, initially zero', async () => {
    const callee = `1 0 NOT 640 MSTORE 0 NOT 0 MSTORE STOP`
    const reader = `960 MLOAD 0 MLOAD OR 640 MLOAD OR ${RETURN_TOP}`
    const call = (to: string) => `32 0 0 0 ${to} GAS STATICCALL POP`
    const code = `${call(OTHER)} ${call('0x3000000000000000000000000000000000000004')} 0 MLOAD ${RETURN_TOP}`
    const others = {
      [OTHER]: { code: callee },
      '0x3000000000000000000000000000000000000004': { code: reader },
    }
    const [plain, ...rest] = await everywhere(code, 1_000_000n, others)
    expect(plain?.output).toEqual(new Uint8Array(32))
    for (const other of rest) expect(other).toEqual(plain)
  })

  it('keeps return data when the caller expands memory, or is compiled after the call', async () => {
    const callee = '30 JUMPDEST 1 SWAP1 SUB DUP1 2 JUMPI POP 7 0 MSTORE 9 32 MSTORE 64 0 RETURN'
    const call = `0 0 0 0 ${OTHER} GAS STATICCALL POP`
    const add = '64 0 64 RETURNDATACOPY 64 MLOAD 96 MLOAD MUL 128 MLOAD ADD 128 MSTORE'
    for (const between of ['80 JUMP JUMPDEST', '80 JUMP JUMPDEST 1 40000 MSTORE']) {
      const round = `JUMPDEST ${call} ${call} ${between} ${add} 1 SWAP1 SUB DUP1 12 JUMPI`
      const code = `5 0 MSTORE 5 32 MSTORE 20 ${round} 128 MLOAD ${RETURN_TOP}`
      const [plain, ...rest] = await everywhere(code, 1_000_000n, { [OTHER]: { code: callee } })
      expect(BigInt(`0x${Buffer.from(plain?.output ?? []).toString('hex')}`)).toBe(20n * 63n)
      for (const other of rest) expect(other).toEqual(plain)
    }
  })

  it('charges the same price as the interpreter for memory of all sizes', async () => {
    const ends = [1, 32, 33, 1000, 1024, 1025, 40_000, 131_072, 131_073, 1_500_000]
    const stores = ends.map((end) => `${end} ${end - 1} MSTORE8 ${end - 1} MLOAD POP MSIZE`).join(' ADD ')
    const code = `0 ${stores} ADD GAS ADD ${RETURN_TOP}`
    for (let gas = 9_000_000n; gas > 100n; gas = (gas * 3n) / 4n) {
      const [plain, ...others] = await everywhere(code, gas)
      for (const other of others) expect(other).toEqual(plain)
    }
  })

  it('yields and ends at its deadline', async () => {
    const state = world({ [CONTRACT]: { code: 'JUMPDEST 0 JUMP' } })
    const late = run(state, { gas: 10n ** 12n }, { vm: compiled, deadlineMs: 20 })
    await expect(late).rejects.toMatchObject({ kind: 'limit-exceeded' })
  })

  it('leaves traced runs to the interpreter', async () => {
    const state = world({ [CONTRACT]: { code: sum(200) } })
    const result = await run(state, {}, { vm: stepping(compiled) })
    expect(word(result)).toBe(201n * 100n)
  })
})
