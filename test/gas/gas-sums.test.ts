/** The gas of all stacks of a transaction, less its refund, is what the reference node's receipt has. */
import { expect, it } from 'vitest'
import { decodeBlock } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { fromHex } from '../../src/encoding/hex.ts'
import { Recordings } from '../../src/engine/recording/recordings.ts'
import { createVm } from '../../src/evm/vm.ts'
import { GasProfile } from '../../src/gas/gas-profile.ts'
import { GasRecorder } from '../../src/gas/gas-recorder.ts'
import { mergeGas } from '../../src/gas/gas-report.ts'
import { createReferenceReplay, referenceChains, referenceFiles } from '../support/reference-chains.ts'

const config = CHAINS.regtest

const sum = (values: readonly { readonly gas: number }[]): number =>
  values.reduce((total, { gas }) => total + gas, 0)

it.each(referenceFiles())('%s: to the unit', async (file) => {
  const vm = createVm({ chainId: config.chainId })
  const recordings = new Recordings()
  recordings.startGas()
  const replay = createReferenceReplay(recordings.on(vm, 'transactions'))
  let transactions = 0
  for (const chain of referenceChains(file)) {
    const reports = []
    let expected = 0
    for (const [raw, , recorded] of chain.blocks) {
      const block = decodeBlock(fromHex(raw), config)
      await replay.run(block)
      for (const [index, transaction] of block.transactions.entries()) {
        const [gasUsed] = recorded[index] ?? [0]
        if (transaction.isRemasc) continue
        const root = recordings.gas?.take(transaction)?.root
        expect(root, 'the run was recorded').toBeDefined()
        const intrinsic = Number(vm.rulesAt(block.header.number).intrinsicGas(transaction))
        const profile = new GasProfile()
        await profile.add({ transaction, gasUsed, intrinsic, root }, () => undefined)
        const report = profile.report([])
        expect(sum(report.stacks) - report.refunds).toBe(gasUsed)
        expect(report.refunds).toBeGreaterThanOrEqual(0)
        reports.push(report)
        expected += gasUsed
        transactions++
      }
    }
    const all = mergeGas(reports)
    expect(all.gasUsed).toBe(expected)
    expect(sum(all.stacks) - all.refunds).toBe(expected)
  }
  expect(transactions).toBeGreaterThan(0)
})

it('keeps the sum where a transaction runs longer than its record', async () => {
  const recorder = new GasRecorder(4096)
  const call = { depth: 0, from: '0x', to: '0x', value: 0n, input: new Uint8Array() } as const
  const start = { ...call, kind: 'call', gas: 100_000n, isPrecompile: false, runsCode: true } as const
  recorder.enter(start)
  const view = { code: new Uint8Array(10), pc: 0, gas: 100_000 }
  for (let step = 0; step < 2000; step++) {
    recorder.step({ ...view, gas: 100_000 - step * 3 } as never)
  }
  recorder.enter({ ...start, depth: 1, gas: 5000n })
  recorder.exit({ gasUsed: 4000n, output: new Uint8Array() })
  recorder.exit({ gasUsed: 50_000n, output: new Uint8Array() })
  const { root } = recorder
  expect(root?.length).toBeLessThan(2000)
  const profile = new GasProfile()
  const transaction = { to: '0x' } as const
  await profile.add({ transaction, gasUsed: 71_000, intrinsic: 21_000, root }, () => undefined)
  expect(sum(profile.report([]).stacks)).toBe(71_000)
})

it('pauses while it adds a long transaction', async () => {
  const recorder = new GasRecorder()
  const call = { depth: 0, from: '0x', to: '0x', value: 0n, input: new Uint8Array() } as const
  const gas = 1_000_000
  recorder.enter({ ...call, kind: 'call', gas: BigInt(gas), isPrecompile: false, runsCode: true })
  const code = new Uint8Array(10)
  for (let step = 0; step < 100_000; step++) recorder.step({ code, pc: 0, gas: gas - step } as never)
  recorder.exit({ gasUsed: 100_000n, output: new Uint8Array() })
  const profile = new GasProfile()
  let pauses = 0
  const spent = { transaction: { to: '0x' } as const, gasUsed: 121_000, intrinsic: 21_000 }
  await profile.add(
    { ...spent, root: recorder.root },
    () => undefined,
    () => {
      pauses++
      return undefined
    },
  )
  expect(pauses).toBeGreaterThan(5)
  expect(sum(profile.report([]).stacks)).toBe(121_000)
})
