import { describe, expect, it } from 'vitest'
import { contractAddress } from '../../src/chain/transaction.ts'
import { applyTransaction, TransactionRejected } from '../../src/execution/apply-transaction.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { assemble, deployer } from '../support/assembler.ts'
import {
  account,
  CONTRACT,
  ENVIRONMENT,
  NOBODY,
  OTHER,
  SENDER,
  transaction,
  vms,
  world,
} from '../support/execution.ts'

const RICH = 10n ** 24n

function execute(state: Overlay, parts: Parameters<typeof transaction>[0] = {}, gasAvailable = 6_800_000n) {
  return applyTransaction({
    transaction: transaction(parts),
    state,
    env: ENVIRONMENT,
    vm: vms.own,
    gasAvailable,
  })
}

describe('a plain transfer', () => {
  it('moves value, increments the nonce and collects the fee', async () => {
    const state = world({ [OTHER]: { balance: 5n } })
    const outcome = await execute(state, { value: 7n })
    expect(outcome).toMatchObject({ succeeded: true, gasUsed: 21_000n, fee: 2_100_000n, logs: [] })
    expect(account(state, OTHER).balance).toBe(12n)
    expect(account(state, SENDER)).toMatchObject({ nonce: 2n, balance: RICH - 7n - 2_100_000n })
  })

  it('of no value to a missing account creates the account', async () => {
    const state = world()
    await execute(state, { to: NOBODY })
    expect(account(state, NOBODY)).toMatchObject({ nonce: 0n, balance: 0n })
  })
})

describe('a creation', () => {
  const runtime = assemble('PUSH1 42 PUSH1 0 SSTORE')

  it('deploys code at the address that the nonce determines, with nonce 0', async () => {
    const state = world()
    const outcome = await execute(state, { to: null, data: deployer(runtime), gasLimit: 200_000n })
    const created = contractAddress(SENDER, 1n)
    expect(outcome).toMatchObject({ succeeded: true, created })
    expect(account(state, created).nonce).toBe(0n)
    expect(state.code(account(state, created).codeHash)).toEqual(runtime)
    const second = await execute(state, { nonce: 2n, to: created })
    expect(second).toMatchObject({ succeeded: true, gasUsed: 21_000n + 3n + 3n + 20_000n })
    expect(state.storage(created, 0n)).toBe(42n)
  })
})

describe('a transaction that cannot be included', () => {
  it.each([
    ['a nonce that is not the account’s', { nonce: 5n }, /nonce 5/],
    ['more gas than the list has left', { gasLimit: 7_000_000n }, /6800000/],
    [
      'more gas than a VM counts',
      { gasLimit: 2n ** 53n },
      /gas limit 9007199254740992 is above 9007199254740991/,
    ],
    ['less gas than the intrinsic gas', { gasLimit: 20_999n }, /intrinsic gas/],
    ['too little balance', { value: RICH }, /balance/],
    [
      'too long init code',
      { to: null, data: new Uint8Array(49_153), gasLimit: 6_000_000n },
      /init code size/,
    ],
  ])('%s is rejected and leaves the state unchanged', async (_, parts, reason) => {
    const state = world()
    await expect(execute(state, parts)).rejects.toSatisfy(
      (error) => error instanceof TransactionRejected && reason.test(error.message),
    )
    expect(account(state, SENDER)).toMatchObject({ nonce: 1n, balance: RICH })
    expect(state.depth).toBe(0)
  })
})

describe('gas', () => {
  it('is consumed entirely by an exception, whose state is undone', async () => {
    const state = world({ [CONTRACT]: { code: '1 0 SSTORE #fe' } })
    const outcome = await execute(state, { to: CONTRACT, value: 3n })
    expect(outcome).toMatchObject({ succeeded: false, gasUsed: 100_000n, fee: 10_000_000n })
    expect(outcome.failure).toMatchObject({ kind: 'failed', reason: 'invalid opcode' })
    expect(state.storage(CONTRACT, 0n)).toBe(0n)
    expect(account(state, CONTRACT).balance).toBe(0n)
    expect(account(state, SENDER)).toMatchObject({ nonce: 2n, balance: RICH - 10_000_000n })
  })

  it('that remains is returned after REVERT', async () => {
    const state = world({ [CONTRACT]: { code: '0 0 REVERT' } })
    const outcome = await execute(state, { to: CONTRACT })
    expect(outcome).toMatchObject({ succeeded: false, gasUsed: 21_006n })
    expect(outcome.failure).toMatchObject({ kind: 'reverted', reason: 'transaction reverted' })
  })

  it('is refunded for cleared slots, at most half of the used gas', async () => {
    const state = world({ [CONTRACT]: { code: '0 0 SSTORE', storage: { 0: 1n } } })
    const outcome = await execute(state, { to: CONTRACT })
    // 26,006 used, refund 15,000 cut to 13,003.
    expect(outcome.gasUsed).toBe(13_003n)
  })
})

describe('special cases of docs/internals/protocol.md#51-execution', () => {
  const BLAKE2F = '0x0000000000000000000000000000000000000009'
  const SHA256 = '0x0000000000000000000000000000000000000002'

  it('a failing precompiled contract as receiver has a receipt with success, moves no value and takes all gas', async () => {
    const state = world({ [BLAKE2F]: {} })
    const outcome = await execute(state, { to: BLAKE2F, value: 9n })
    expect(outcome).toMatchObject({ succeeded: true, gasUsed: 21_000n, fee: 10_000_000n })
    expect(account(state, BLAKE2F).balance).toBe(0n)
    expect(account(state, SENDER).balance).toBe(RICH - 10_000_000n)
  })

  it('a precompiled contract with too little gas fails and takes all gas', async () => {
    const state = world({ [SHA256]: {} })
    const outcome = await execute(state, { to: SHA256, gasLimit: 21_059n })
    expect(outcome).toMatchObject({ succeeded: false, gasUsed: 21_059n })
  })

  it('a precompiled contract with enough gas costs its required gas', async () => {
    const outcome = await execute(world({ [SHA256]: {} }), { to: SHA256, gasLimit: 21_060n })
    expect(outcome).toMatchObject({ succeeded: true, gasUsed: 21_060n })
    expect(outcome.output).toHaveLength(32)
  })

  it('a creation without data creates an account without code', async () => {
    const state = world()
    const outcome = await execute(state, { to: null, value: 4n })
    expect(outcome).toMatchObject({ succeeded: true, gasUsed: 53_000n })
    expect(account(state, contractAddress(SENDER, 1n))).toMatchObject({ nonce: 0n, balance: 4n })
  })

  it('a creation does not check for a collision and keeps the balance', async () => {
    const created = contractAddress(SENDER, 1n)
    const state = world({ [created]: { balance: 11n, nonce: 3n, code: 'STOP' } })
    const runtime = assemble('CALLER')
    const outcome = await execute(state, { to: null, value: 4n, data: deployer(runtime), gasLimit: 200_000n })
    expect(outcome.succeeded).toBe(true)
    expect(account(state, created)).toMatchObject({ nonce: 0n, balance: 15n })
    expect(state.code(account(state, created).codeHash)).toEqual(runtime)
  })

  it('destroyed contracts are deleted at the end', async () => {
    const state = world({ [CONTRACT]: { balance: 8n, code: `${OTHER} SELFDESTRUCT` }, [OTHER]: {} })
    const outcome = await execute(state, { to: CONTRACT })
    // 21,000 + 3 + 5,000, of which the 24,000 refund may give back half.
    expect(outcome).toMatchObject({ succeeded: true, gasUsed: 13_002n, destroyed: [CONTRACT] })
    expect(state.account(CONTRACT)).toBeUndefined()
    expect(account(state, OTHER).balance).toBe(8n)
  })
})
