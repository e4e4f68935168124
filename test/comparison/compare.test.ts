import { Interface } from 'ethers'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ComparisonParts, compareRules } from '../../src/comparison/compare.ts'
import type { EthereumFork } from '../../src/comparison/ethereum-forks.ts'
import type { RuleComparison } from '../../src/comparison/report.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { artifact } from '../support/contracts.ts'
import {
  CONTRACT,
  ENVIRONMENT,
  type Given,
  run,
  SENDER,
  transaction,
  vms,
  world,
} from '../support/execution.ts'

const FEW = { ...ENVIRONMENT, minimumGasPrice: 1n }
const probe = artifact('Probe')
const coder = new Interface(probe.abi)
const RICH: Hex = `0x${'77'.repeat(20)}`
let code: Uint8Array
beforeAll(async () => {
  const made = await run(world(), { to: null, data: fromHex(probe.bytecode), gas: 5_000_000n })
  code = made.output
})

function compare(accounts: Record<Hex, Given>, parts: Partial<Parameters<typeof transaction>[0]>, more = {}) {
  const all: ComparisonParts = {
    transaction: transaction({ to: CONTRACT, gasLimit: 2_000_000n, ...parts }),
    state: world(accounts),
    env: FEW,
    vm: vms.own,
    chainId: 33,
    fork: 'cancun',
    ...more,
  }
  return compareRules(all)
}

const asked = (name: string, values: unknown[], value = 0n, more = {}) =>
  compare(
    { [CONTRACT]: { code, balance: 10n ** 18n }, [RICH]: { balance: 1n } },
    { data: fromHex(coder.encodeFunctionData(name, values)), value },
    more,
  )

const sum = (gas: RuleComparison['chain']['gas']) =>
  [...gas.values()].reduce((total, part) => total + part, 0n)

describe('gas by group', () => {
  it.each([
    ['set', [1n, 2n], 0n],
    ['note', [1n, '0x0102'], 0n],
    ['arithmetic', [50n], 0n],
    ['hashes', [20n], 0n],
    ['storageStores', [10n], 0n],
    ['calls', [5n], 0n],
    ['environment', [], 0n],
    ['spawn', [], 5n],
    ['sendTo', [RICH], 7n],
    ['failWithReason', [], 0n],
  ])('of %s adds up exactly on both sides', async (name, values, value) => {
    const { chain, ethereum } = await asked(name, values, value)
    for (const side of [chain, ethereum]) {
      expect(sum(side.gas)).toBe(side.gasUsed + side.refund)
      expect(side.gas.get('losses')).toBe(0n)
      expect(side.gas.get('transaction')).toBeGreaterThanOrEqual(21_000n)
    }
    expect(chain.status).toBe(ethereum.status)
  })

  it('counts the gas lost in a failure', async () => {
    const { chain, ethereum } = await asked('failWithInvalid', [])
    expect(chain).toMatchObject({ status: 'failed', reason: 'invalid opcode', gasUsed: 2_000_000n })
    for (const { gas } of [chain, ethereum]) expect(gas.get('losses')).toBeGreaterThan(1_900_000n)
  })

  it('shows storage at both prices, and refunds', async () => {
    const { chain, ethereum } = await compare(
      { [CONTRACT]: { code: 'PUSH1 0 PUSH1 1 SSTORE PUSH1 1 SLOAD', storage: { 1: 5n } } },
      {},
    )
    // docs/internals/protocol.md#62-gas-schedule: 5,000 and 200, 15,000 back but at most half; Ethereum (EIP-2929,
    // EIP-3529): 5,000 and 100, 4,800 back.
    expect([chain.gas.get('storage'), chain.refund]).toEqual([5200n, (21_000n + 5200n + 9n) / 2n])
    expect([ethereum.gas.get('storage'), ethereum.refund]).toEqual([5100n, 4800n])
  })
})

describe('the divergence', () => {
  it('is absent for arithmetic', async () => {
    const comparison = await asked('arithmetic', [3n])
    expect(comparison).toMatchObject({ sameResult: true, sameLogs: true })
    expect(comparison.divergence).toBeUndefined()
    expect(comparison.firstPriceDifference).toBeUndefined()
    expect(comparison.chain.gasUsed).toBe(comparison.ethereum.gasUsed)
  })

  it('is at the first opcode with another price', async () => {
    const comparison = await compare({ [CONTRACT]: { code: 'PUSH1 1 SLOAD POP PUSH1 1 SLOAD' } }, {})
    expect(comparison.firstPriceDifference).toEqual({
      index: 1,
      address: CONTRACT,
      chain: { name: 'SLOAD', opcode: 0x54, pc: 2, depth: 0, cost: 200 },
      ethereum: { name: 'SLOAD', opcode: 0x54, pc: 2, depth: 0, cost: 2100 },
    })
    expect(comparison.divergence).toBeUndefined()
  })

  it('is at the opcode where code takes another branch', async () => {
    // Jumps when the size of a precompiled contract is not 0: here it is 2^256 - 1
    // (docs/internals/protocol.md#63-calls-and-creations).
    const source = 'PUSH1 1 EXTCODESIZE @far JUMPI PUSH1 1 PUSH1 0 SSTORE STOP far: PUSH1 0 PUSH1 0 LOG0'
    const comparison = await compare({ [CONTRACT]: { code: source } }, {})
    expect(comparison.divergence).toMatchObject({
      index: 4,
      chain: { name: 'JUMPDEST' },
      ethereum: { name: 'PUSH1', pc: 7 },
    })
    expect([comparison.sameResult, comparison.sameLogs]).toEqual([true, false])
  })

  it('is at the opcode where one side ends earlier', async () => {
    // The chain charges 20,000 and 5,000 for each write, Ethereum 100 after the first (EIP-2929).
    const source = `${[0, 1, 0, 1].map((value) => `PUSH1 ${value} PUSH1 0 SSTORE`).join(' ')} PUSH1 7 POP`
    const accounts = { [CONTRACT]: { code: source, storage: { 0: 1n } } }
    const comparison = await compare(accounts, { gasLimit: 60_000n })
    expect([comparison.chain.reason, comparison.ethereum.status]).toEqual(['out of gas', 'succeeded'])
    expect(comparison.divergence).toMatchObject({ index: 12, ethereum: { name: 'PUSH1' } })
    expect(comparison.divergence?.chain).toBeUndefined()
  })

  it('is at opcodes that one side does not define', async () => {
    // BLOBHASH is an opcode of Ethereum only.
    const blob = await compare(
      { [CONTRACT]: { code: 'PUSH1 0 #49 PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN' } },
      {},
    )
    expect(blob.chain).toMatchObject({ status: 'failed', reason: 'invalid opcode' })
    expect(blob.ethereum.status).toBe('succeeded')
    expect(blob.sameResult).toBe(false)
    expect(blob.divergence).toMatchObject({
      index: 1,
      chain: { name: 'INVALID', pc: 2 },
      ethereum: { name: 'BLOBHASH', pc: 2 },
    })

    const old = await compare({ [CONTRACT]: { code: '#5f STOP' } }, {}, { fork: 'paris' })
    expect(old.ethereum).toMatchObject({ status: 'failed', reason: 'invalid opcode' })
    expect(old.divergence).toMatchObject({ chain: { name: 'PUSH0' }, ethereum: { name: 'INVALID' } })
  })
})

describe('a comparison', () => {
  it('leaves the state unchanged, and gives the same result twice', async () => {
    const state = world({ [CONTRACT]: { code, balance: 10n ** 18n } })
    const before = new Overlay(state)
    const once = () => asked('spawn', [], 5n, { state })
    expect(await once()).toEqual(await once())
    expect(state.account(SENDER)).toEqual(before.account(SENDER))
    expect(state.account(CONTRACT)?.nonce).toBe(0n)
  })

  it('names a transaction that Ethereum would not include', async () => {
    const comparison = await compare({}, { gasPrice: 1n }, { env: ENVIRONMENT })
    expect(comparison.chain.status).toBe('succeeded')
    expect(comparison.ethereum).toMatchObject({ status: 'rejected', gasUsed: 0n })
    expect(comparison.ethereum.reason).toMatch(/baseFee/)
  })

  it.each<EthereumFork>(['petersburg', 'istanbul', 'berlin', 'london', 'shanghai'])(
    'recognises %s',
    async (fork) => {
      const comparison = await compare({ [CONTRACT]: { code: 'PUSH1 1 SLOAD' } }, {}, { fork })
      const prices = { petersburg: undefined, istanbul: 800 }
      expect(comparison.firstPriceDifference?.ethereum.cost).toBe(
        fork in prices ? prices[fork as keyof typeof prices] : 2100,
      )
    },
  )

  it('ends when time is up', async () => {
    await expect(asked('loopForever', [], 0n, { deadlineMs: 0 })).rejects.toMatchObject({
      kind: 'limit-exceeded',
    })
  })
})
