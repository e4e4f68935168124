/** The tracer that the chain's own runs have. */
import { expect, it } from 'vitest'
import { fromHex, toFixedHex } from '../../../src/encoding/hex.ts'
import { CallRecorder } from '../../../src/evm/tracing/call-recorder.ts'
import { CallTracer } from '../../../src/evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../../src/evm/tracing/trace-budget.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, OTHER, run, world } from '../../support/execution.ts'

/** Calls another contract, which logs and reverts, as often as the call data says. */
const CALLER = `0 CALLDATALOAD again: 32 0 0 0 0 ${OTHER} 3000 CALL POP 1 SWAP1 SUB DUP1 @again JUMPI 32 0 RETURN`
const given = () => world({ [CONTRACT]: { code: CALLER }, [OTHER]: { code: '0 0 LOG0 32 0 REVERT' } })

const times = (count: number) => fromHex(toFixedHex(BigInt(count), 32))

async function recorded(count: number) {
  const state = given()
  const recorder = new CallRecorder()
  const vm = createVm({ chainId: 33 })
  const result = await run(state, { data: times(count), gas: 5_000_000n }, { vm, tracer: recorder })
  return { recorder, outcome: { ...result, ...state.changes() } }
}

async function unrecorded(count: number) {
  const state = given()
  const result = await run(state, { data: times(count), gas: 5_000_000n }, { vm: createVm({ chainId: 33 }) })
  return { ...result, ...state.changes() }
}

it('records what a call tracer does', async () => {
  const { recorder, outcome } = await recorded(20)
  const tracer = new CallTracer(new TraceBudget(1 << 20))
  await run(given(), { data: times(20), gas: 5_000_000n }, { vm: createVm({ chainId: 33 }), tracer })
  expect(recorder.recorded).toEqual(tracer.root)
  expect(recorder.recorded?.calls).toHaveLength(20)
  expect(outcome).toEqual(await unrecorded(20))
})

it('leaves a run with too many calls, which goes on to the same end', async () => {
  const { recorder, outcome } = await recorded(1000)
  expect(recorder.recorded).toBeUndefined()
  // A frame takes 544 bytes and a log 512: the first that passes the limit of 64 KiB is the last.
  expect(recorder.bytes).toBeGreaterThan(64 << 10)
  expect(recorder.bytes).toBeLessThan(66 << 10)
  expect(outcome).toEqual(await unrecorded(1000))
  expect(outcome.status).toBe('succeeded')
})

it('leaves a run whose calls are refused, which keep their input', async () => {
  const refused = `0 again: 0 0 100000 0 1 ${OTHER} 0 CALL POP 1 ADD DUP1 100 GT @again JUMPI`
  const recorder = new CallRecorder()
  const vm = createVm({ chainId: 33 })
  const state = world({ [CONTRACT]: { code: refused } })
  const result = await run(state, { gas: 5_000_000n }, { vm, tracer: recorder })
  expect(result.status).toBe('succeeded')
  expect(recorder.recorded).toBeUndefined()
  expect(recorder.bytes).toBeLessThan(102_000)
})
