/**
 * The hashes of internal transactions that call the Bridge, in random trees of calls and creations, against the reference
 * node's own classes (`fixtures/bridge/internal-calls.json.gz`): interpreted, compiled, and by the library.
 */
import { describe, expect, it, vi } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { intrinsicGas } from '../../src/chain/intrinsic-gas.ts'
import { decodeTransaction } from '../../src/chain/transaction.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { createChosenVm } from '../../src/ethereumjs/create-vm.ts'
import { internalHash } from '../../src/evm/internal-transaction.ts'
import { Journal } from '../../src/evm/journal.ts'
import type { Precompile } from '../../src/evm/precompiles/precompile.ts'
import { PRECOMPILES } from '../../src/evm/precompiles/table.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import { bridgeChain, bridgeChainNames } from '../support/bridge-chains.ts'
import { ENVIRONMENT, run, stepping, world } from '../support/execution.ts'
import { gzippedFixture } from '../support/fixture.ts'

interface Case {
  readonly accounts: Readonly<Record<Hex, { balance: string; nonce: string; code: Hex }>>
  readonly raw: Hex
  readonly hash: Hex
  readonly blockGasLimit: number
  readonly failed: boolean
  /** Of the transaction or internal transaction of each call of the Bridge, in order. */
  readonly bridge: readonly Hex[]
}

const { cases } = gzippedFixture<{ cases: readonly Case[] }>('bridge/internal-calls.json.gz')
const bridge = PRECOMPILES.get(PRECOMPILE_ADDRESS.bridge) as Precompile

const vms: Record<string, Vm> = {
  interpreted: createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY }),
  compiled: createVm({ chainId: 33, hotAfter: 0 }),
  traced: stepping(createVm({ chainId: 33 })),
  library: createChosenVm('ethereumjs', { chainId: 33 }),
}

/** Runs a case; the hashes that the calls of the Bridge had, if they ask, and how the transaction ended. */
async function hashesOf(vm: Vm, { accounts, raw, blockGasLimit }: Case, asks = true) {
  const transaction = decodeTransaction(fromHex(raw))
  const { from, to, value, data, gasLimit, gasPrice } = transaction
  const state = world({
    ...Object.fromEntries(
      Object.entries(accounts).map(([address, { balance, nonce, code }]) => [
        address,
        { balance: BigInt(balance), nonce: BigInt(nonce), ...(code !== '0x' && { code: fromHex(code) }) },
      ]),
    ),
    [from]: { balance: 10n ** 21n, nonce: 1n },
    [PRECOMPILE_ADDRESS.bridge]: { balance: 21n * 10n ** 24n },
  })
  const hashes: (Hex | undefined)[] = []
  const noting: Precompile = {
    ...bridge,
    // Asked before the gas is paid for, as the reference node makes the internal transaction before.
    requiredGas(input, env) {
      if (asks) hashes.push(env.callHash())
      return bridge.requiredGas(input, env)
    },
  }
  const env = {
    ...ENVIRONMENT,
    number: 10,
    gasLimit: BigInt(blockGasLimit),
    precompiles: new Map(vm.rulesAt(10).precompiles).set(PRECOMPILE_ADDRESS.bridge, noting),
  }
  const gas = gasLimit - intrinsicGas({ to, data })
  const result = await vm.run({ from, to, value, data, gas, gasPrice, origin: from, transaction }, state, env)
  return { hashes, failed: result.status === 'failed' }
}

describe('the hash of an internal transaction', () => {
  it('is that of the recorded chains for first calls', () => {
    const steps = bridgeChainNames().flatMap((name) => bridgeChain(name).steps)
    const transactions = steps.flatMap((step) => ('call' in step ? [] : (step.transactions ?? [])))
    const calls = transactions.flatMap(({ hash: origin, internal = [] }) =>
      internal.filter(({ rejected }) => !rejected).map((call) => ({ origin, ...call })),
    )
    expect(calls.length).toBeGreaterThan(100)
    for (const { origin, from, to, value, hash } of calls) {
      const call = {
        type: 'call',
        nonce: 0n,
        sender: from,
        receiver: to,
        value: BigInt(value),
        code: EMPTY,
        depth: 0,
        index: 0,
      } as const
      expect(internalHash([call], origin, { gasPrice: 0n, env: { gasLimit: 10_000_000n } })).toBe(hash)
    }
  })

  it('is absent in a simulation, and the own one where a transaction calls', async () => {
    const asked: (Hex | undefined)[] = []
    const noting: Precompile = {
      ...bridge,
      requiredGas: (input, env) => {
        asked.push(env.callHash())
        return bridge.requiredGas(input, env)
      },
    }
    const env = { ...ENVIRONMENT, precompiles: new Map([[PRECOMPILE_ADDRESS.bridge, noting]]) }
    const state = world({ [PRECOMPILE_ADDRESS.bridge]: { balance: 1n } })
    await run(state, { to: PRECOMPILE_ADDRESS.bridge }, { env })
    const [{ raw } = { raw: '0x' }] = cases
    const transaction = decodeTransaction(fromHex(raw as Hex))
    await run(state, { to: PRECOMPILE_ADDRESS.bridge, transaction }, { env })
    expect(asked).toEqual([undefined, transaction.hash])
  })
})

describe('internal transactions', () => {
  it.each(['interpreted', 'compiled', 'traced'])(
    'are not made where nothing asks for them, %s',
    async (name) => {
      const made = vi.spyOn(Journal.prototype, 'placeOf')
      try {
        for (const each of cases) await hashesOf(vms[name] as Vm, each, false)
        expect(made).not.toHaveBeenCalled()
        for (const each of cases.slice(0, 5)) await hashesOf(vms[name] as Vm, each)
        expect(made).toHaveBeenCalled()
      } finally {
        made.mockRestore()
      }
    },
  )
})

describe.each(Object.entries(vms))('internal transactions, %s', (_, vm) => {
  it('have the hashes of the reference node', async () => {
    expect(cases.flatMap(({ bridge: hashes }) => hashes).length).toBeGreaterThan(500)
    for (const each of cases) {
      const { hashes, failed } = await hashesOf(vm, each)
      expect(hashes, each.hash).toEqual(each.bridge)
      expect(failed, each.hash).toBe(each.failed)
    }
  })
})
