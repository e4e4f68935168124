/** Calls that compiled code makes without returning: storage, gas and data of both sides, and callees that have to wait. */
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, type Given, OTHER, RETURN_TOP, run, word, world } from '../../support/execution.ts'

const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
const hot = createVm({ chainId: 33, hotAfter: 10 })
const compiled = createVm({ chainId: 33, hotAfter: 0 })

const SLOTS = [0n, 1n, 2n, 3n]

type Accounts = Readonly<Record<Hex, Given>>

/** What the interpreter does; the others do the same. */
async function agreed(accounts: Accounts, gas = 3_000_000n) {
  const results = []
  for (const vm of [interpreted, hot, compiled]) {
    const state = world(accounts)
    const { status, failure, gasUsed, output, refund, logs, participants } = await run(state, { gas }, { vm })
    const storage = Object.keys(accounts).map((address) =>
      SLOTS.map((at) => state.storage(address as Hex, at)),
    )
    const balances = Object.keys(accounts).map((address) => state.account(address as Hex)?.balance)
    results.push({ status, failure, gasUsed, output, refund, logs, participants, storage, balances })
  }
  const [plain, ...others] = results
  for (const other of others) expect(other).toEqual(plain)
  return plain as (typeof results)[number]
}

/** Adds 1 to a slot. */
const count = (slot: number) => `${slot} SLOAD 1 ADD ${slot} SSTORE`
/** Repeats code 20 times; the counter is in memory at 960. */
const often = (code: string) => `20 960 MSTORE again: ${code} 1 960 MLOAD SUB DUP1 960 MSTORE @again JUMPI`
const callOther = `32 0 64 0 0 ${OTHER} GAS CALL`

const SHA256 = 2
/** Of a contract without code. */
const CREATION = '0 0 0 CREATE'

describe('calls in place', () => {
  it('see the writes of the caller, and the caller sees theirs unless they failed', async () => {
    const main = `CALLER ${OTHER} EQ @inner JUMPI
      ${often(`${count(0)} 0 0 0 0 0 ${OTHER} 60000 CALL 2 SLOAD ADD 0 SLOAD ADD 2 SSTORE`)}
      2 SLOAD ${RETURN_TOP} inner: ${count(0)} STOP`
    for (const ending of ['STOP', '0 0 REVERT', '#fe', 'end: @end JUMP', '9 0 MSTORE 64 0 REVERT']) {
      const callee = `${count(1)} 0 0 0 0 0 CALLER GAS CALL ${count(2)} POP ${ending}`
      const result = await agreed({ [CONTRACT]: { code: main }, [OTHER]: { code: callee } })
      expect(result.status).toBe('succeeded')
      expect(result.storage).toEqual(
        ending === 'STOP'
          ? [
              [40n, 0n, expect.any(BigInt), 0n],
              [0n, 20n, 20n, 0n],
            ]
          : [
              [20n, 0n, expect.any(BigInt), 0n],
              [0n, 0n, 0n, 0n],
            ],
      )
    }
  })

  it('run out of gas at the same opcode as the interpreter', async () => {
    const callee = `${count(1)} 7 0 MSTORE 64 0 LOG0 32 0 RETURN`
    const main = `${often(`${callOther} 0 MLOAD ADD 0 SSTORE`)} STOP`
    for (let gas = 40_000n; gas < 700_000n; gas += 23_457n)
      await agreed({ [CONTRACT]: { code: main }, [OTHER]: { code: callee } }, gas)
  })

  it('return data of any size, which stay valid while the caller’s memory grows', async () => {
    const callee = '0 NOT 0 MSTORE 77 32 MSTORE 0 CALLDATALOAD 0 RETURN'
    for (const size of [0, 1, 4, 31, 32, 33, 100, 5000]) {
      const round = `${size} 0 MSTORE 40 128 32 0 0 ${OTHER} GAS CALL
        RETURNDATASIZE 0 960 MLOAD 300 MUL 1024 ADD RETURNDATACOPY
        128 MLOAD 144 MLOAD XOR RETURNDATASIZE ADD 1056 MLOAD XOR ADD 200 MLOAD ADD 200 MSTORE`
      const code = `${often(round)} 200 MLOAD ${RETURN_TOP}`
      const result = await agreed({ [CONTRACT]: { code }, [OTHER]: { code: callee } })
      expect(result.status).toBe('succeeded')
    }
  })

  it.each([
    ['calls a precompiled contract', `32 0 32 0 0 ${SHA256} GAS CALL`],
    ['transfers value', `0 0 0 0 1 ${CONTRACT} GAS CALL`],
    ['creates a contract', `${CREATION} ISZERO ISZERO`],
    [
      'delegates to a contract that transfers',
      `0 0 0 0 0x30000000000000000000000000000000000000a5 GAS DELEGATECALL`,
    ],
  ])('continue after a callee that %s', async (_, work) => {
    for (const ending of [RETURN_TOP, `0 MSTORE 32 0 REVERT`]) {
      const callee = `${count(1)} ${work} 0 MLOAD ADD ${count(1)} ${ending}`
      const middle = `${count(2)} 32 0 64 0 0 ${OTHER} GAS CALL 0 MLOAD ADD ${RETURN_TOP}`
      const between: Hex = '0x30000000000000000000000000000000000000b6'
      const round = `${count(0)} 32 0 64 0 0 ${between} GAS CALL 0 MLOAD ADD 3 SLOAD ADD 3 SSTORE`
      const result = await agreed({
        [CONTRACT]: { code: `CALLVALUE CALLER ${OTHER} EQ OR @end JUMPI ${often(round)} end: STOP` },
        [OTHER]: { code: callee, balance: 1000n },
        [between]: { code: middle, balance: 1000n },
        '0x30000000000000000000000000000000000000a5': { code: `0 0 0 0 1 ${CONTRACT} GAS CALL STOP` },
      })
      expect(result.status).toBe('succeeded')
      expect(result.storage[0]?.[0]).toBe(20n)
      expect(result.storage[1]?.[1]).toBe(ending === RETURN_TOP ? 40n : 0n)
    }
  })

  it('find no code where the creation of a contract was undone', async () => {
    // Makes a contract that returns 32 bytes, calls it and reverts; with call data, calls the address in them.
    const maker = `CALLDATASIZE @again JUMPI PUSH14 0x6460206000f36000526005601bf3 0 MSTORE
      14 18 0 CREATE DUP1 64 MSTORE 0 0 0 0 0 DUP6 GAS CALL RETURNDATASIZE 96 MSTORE 64 64 REVERT
      again: 0 0 0 0 0 0 CALLDATALOAD GAS CALL RETURNDATASIZE 96 MSTORE 64 64 RETURN`
    const round = `64 0 0 0 0 ${OTHER} GAS CALL POP 32 MLOAD 3 SLOAD ADD 3 SSTORE
      64 0 32 0 0 ${OTHER} GAS CALL POP 32 MLOAD 1000 MUL 3 SLOAD ADD 3 SSTORE`
    const result = await agreed({ [CONTRACT]: { code: `${often(round)} STOP` }, [OTHER]: { code: maker } })
    expect(result.status).toBe('succeeded')
    expect(result.storage[0]?.[3]).toBe(640n)
  })

  it('keep CALLER, CALLVALUE and the static flag of each kind', async () => {
    const callee = 'CALLER 0 MSTORE CALLVALUE 32 MSTORE ADDRESS 64 MSTORE 96 0 LOG0 1 0 SSTORE 96 0 RETURN'
    const rounds = ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'].map((kind) => {
      const value = kind === 'CALL' || kind === 'CALLCODE' ? '0' : ''
      return `96 0 0 0 ${value} ${OTHER} 50000 ${kind} 0 MLOAD ADD 32 MLOAD ADD 64 MLOAD ADD 100 MLOAD ADD 100 MSTORE`
    })
    const code = `${often(rounds.join(' '))} 128 100 RETURN`
    const result = await agreed({ [CONTRACT]: { code }, [OTHER]: { code: callee } })
    expect(result.status).toBe('succeeded')
    expect(result.logs).toHaveLength(60)
  })

  it('nest to the limit of calls, with many words on the stack of each', async () => {
    // Distinct words that are not constants, so that compiled code has them in locals.
    const words = Array.from({ length: 180 }, (_, i) => `GAS ${i} XOR NOT`).join(' ')
    const sums = 'ADD '.repeat(179)
    const code = `0 CALLDATALOAD ISZERO @end JUMPI 1 0 CALLDATALOAD SUB 0 MSTORE ${words}
      32 32 32 0 0 ADDRESS 7000000 CALL 32 MLOAD ADD 32 MSTORE ${sums} POP ${count(0)}
      32 MLOAD 1 ADD ${RETURN_TOP} end: 0 ${RETURN_TOP}`
    const first = `450 0 MSTORE 32 0 32 0 0 ${OTHER} GAS CALL POP 0 MLOAD ${RETURN_TOP}`
    const result = await agreed({ [CONTRACT]: { code: first }, [OTHER]: { code } }, 8_000_000n)
    expect(result.status).toBe('succeeded')
    expect(result.storage[1]?.[0]).toBe(400n)
  })

  it('yield, and end at the deadline', async () => {
    const accounts = {
      [CONTRACT]: { code: `again: ${callOther} POP @again JUMP` },
      [OTHER]: { code: 'again: @again JUMP' },
    }
    for (const code of ['again: @again JUMP', '1 POP STOP', '32 0 SHA3 POP STOP']) {
      const state = world({ ...accounts, [OTHER]: { code } })
      let passes = 0
      const again = () => {
        passes++
        next = setImmediate(again)
      }
      let next = setImmediate(again)
      const late = run(state, { gas: 10n ** 12n }, { vm: compiled, deadlineMs: 600 })
      await expect(late).rejects.toMatchObject({ kind: 'limit-exceeded' })
      clearImmediate(next)
      expect(passes).toBeGreaterThan(0)
    }
  })

  it('give the result to a caller that continues in the interpreter', async () => {
    const code = `${often(`${callOther} 0 MLOAD ADD 32 MLOAD 5 SWAP1 SMOD ADD 32 MSTORE`)} 32 MLOAD ${RETURN_TOP}`
    const state = world({ [CONTRACT]: { code }, [OTHER]: { code: `3 ${RETURN_TOP}` } })
    const plain = await run(state, {}, { vm: interpreted })
    expect(word(await run(state, {}, { vm: compiled }))).toBe(word(plain))
  })
})
