import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import { CHAIN_RULES } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import { applyTransaction } from '../../src/execution/apply-transaction.ts'
import {
  account,
  CONTRACT,
  ENVIRONMENT,
  NOBODY,
  OTHER,
  RETURN_TOP,
  run,
  SENDER,
  transaction,
  vms,
  word,
  world,
} from '../support/execution.ts'

const TIMEOUT = { kind: 'limit-exceeded', message: 'Execution has got timeout out.' }

/**
 * Programs that never end on their own, and the gas that our loop takes tens of milliseconds to burn, in compiled code too:
 * many slices of work, however fast the machine is.
 */
const ENDLESS: readonly (readonly [string, string, bigint])[] = [
  ['a jump', 'a: @a JUMP', 200_000_000n],
  ['calls', `a: 0 0 0 0 0 ${OTHER} 1000 CALL POP @a JUMP`, 40_000_000n],
  ['hashing', 'a: 100000 0 SHA3 POP @a JUMP', 8_000_000n],
]

describe.each(['own', 'library'] as const)('a long run in the %s loop', (loop) => {
  const vm = vms[loop]

  it.each(ENDLESS)('of %s lets the event loop turn', async (_, code, gas) => {
    let turns = 0
    let running = true
    const turn = () => {
      turns++
      if (running) setImmediate(turn)
    }
    setImmediate(turn)
    const state = world({ [CONTRACT]: { code }, [OTHER]: { code: 'STOP' } })
    const { failure } = await run(state, { gas: loop === 'own' ? gas : 800_000n }, { vm })
    running = false
    expect(failure).toBe('out of gas')
    expect(turns).toBeGreaterThan(1)
  })

  it.each(ENDLESS)('of %s ends at its deadline', async (_, code) => {
    const state = world({ [CONTRACT]: { code }, [OTHER]: { code: 'STOP' } })
    // More gas than can be burnt in the time, within what our loop counts.
    await expect(run(state, { gas: 2n ** 52n }, { vm, deadlineMs: 30 })).rejects.toMatchObject(TIMEOUT)
  })

  it('that was stopped at its deadline does not affect the next', async () => {
    for (let i = 0; i < 3; i++) {
      const state = world({ [CONTRACT]: { code: 'a: @a JUMP' } })
      await expect(run(state, { gas: 2n ** 52n }, { vm, deadlineMs: 5 })).rejects.toMatchObject(TIMEOUT)
      const next = world({ [CONTRACT]: { code: `7 0 SSTORE 0 SLOAD ${RETURN_TOP}` } })
      expect(word(await run(next, {}, { vm }))).toBe(7n)
    }
  })
})

describe('a transaction that is stopped at its deadline', () => {
  it('leaves the state unchanged', async () => {
    const state = world({ [CONTRACT]: { code: '1 0 SSTORE a: @a JUMP' } })
    const balance = account(state, SENDER).balance
    const parts = {
      transaction: transaction({ to: CONTRACT, gasLimit: 2n ** 52n, gasPrice: 0n }),
      state,
      env: ENVIRONMENT,
      vm: vms.own,
      gasAvailable: 2n ** 60n,
      deadlineMs: 20,
    }
    await expect(applyTransaction(parts)).rejects.toMatchObject(TIMEOUT)
    expect(state.depth).toBe(0)
    expect(state.storage(CONTRACT, 0n)).toBe(0n)
    expect(account(state, SENDER)).toEqual({ ...EMPTY_ACCOUNT, nonce: 1n, balance })
  })
})

describe('a machine', () => {
  it('runs many messages at once, each in its own block and state', async () => {
    const code = `0 0 0 0 0 ${OTHER} 30000 CALL POP NUMBER 1000 MUL 0 SLOAD ADD ${RETURN_TOP}`
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const state = world({
          [CONTRACT]: { code, storage: { 0: BigInt(i) } },
          [OTHER]: { code: '1 0 SSTORE' },
        })
        return word(await run(state, {}, { env: { ...ENVIRONMENT, number: 5000 + i } }))
      }),
    )
    expect(answers).toEqual(Array.from({ length: 40 }, (_, i) => BigInt((5000 + i) * 1000 + i)))
  })

  it('returns its chain id for CHAINID', async () => {
    const vm = createVm({ chainId: 30 })
    const state = world({ [CONTRACT]: { code: `CHAINID ${RETURN_TOP}` } })
    expect(word(await run(state, {}, { vm }))).toBe(30n)
    expect(vm.rulesAt(1)).toBe(CHAIN_RULES)
  })

  it('accepts gas up to the largest safe integer, traced or not, and refuses more', async () => {
    const state = world({ [CONTRACT]: { code: `1 0 SSTORE GAS ${RETURN_TOP}` } })
    const gas = 2n ** 53n - 1n
    expect(word(await run(state, { gas }))).toBe(gas - 20_000n - 6n - 2n)
    expect(word(await run(state, { gas }, { tracer: { step() {} } }))).toBe(gas - 5_000n - 6n - 2n)
    for (const to of [CONTRACT, NOBODY, null]) {
      await expect(run(state, { to, gas: gas + 1n })).rejects.toMatchObject({
        kind: 'invalid-params',
        message: 'gas: 9007199254740992 is above 9007199254740991',
      })
    }
    expect(state.depth).toBe(0)
  })

  it('notices a CALL with value, and only that', async () => {
    const seen = async (code: string) =>
      (await run(world({ [CONTRACT]: { code, balance: 9n } }))).valueCallSeen
    expect(await seen(`0 0 0 0 1 ${OTHER} 0 CALL`)).toBe(true)
    expect(await seen(`0 0 0 0 0 ${OTHER} 0 CALL`)).toBe(false)
  })

  it.each([
    ['own', undefined],
    ['own, traced', { step() {} }],
    ['library', undefined],
  ] as const)('does not record a CALL with value without enough gas (%s)', async (name, tracer) => {
    const vm = name === 'library' ? vms.library : vms.own
    const code = `0 0 0 0 1 ${OTHER} 0 CALL`
    const seen = async (gas: bigint) => {
      const state = world({ [CONTRACT]: { code, balance: 9n }, [OTHER]: { balance: 1n } })
      return (await run(state, { gas }, { vm, tracer })).valueCallSeen
    }
    const paid = 7n * 3n + 700n + 9_000n + 2_300n
    expect(await seen(paid)).toBe(true)
    for (const gas of [paid - 1n, paid - 2_301n, 700n]) expect(await seen(gas)).toBe(false)
  })

  it('throws the errors of the state', async () => {
    const state = world({ [CONTRACT]: { code: '0 SLOAD' } })
    state.storage = () => {
      throw new Error('the disk is gone')
    }
    await expect(run(state)).rejects.toThrow('the disk is gone')
    expect((await run(world())).status).toBe('succeeded')
  })
})
