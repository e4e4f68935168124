/**
 * Contracts of `fixtures/debugger` that are compiled to WebAssembly after a few jumps, and the same contracts interpreted:
 * random calls in a row have the same results, and traces over the states that they leave pass the same lines. A trace runs
 * the call as the compiled run did. `TRACE_RUNS=2000` runs more, `TRACE_SEED=<seed>` the same again.
 */
import { Interface } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DebugSources } from '../../src/debugger/debug-sources.ts'
import { ExecutionRecorder } from '../../src/debugger/execution-recorder.ts'
import { readSourceSteps } from '../../src/debugger/source-steps.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { HotCode } from '../../src/evm/compiled/hot-code.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { TraceBudget } from '../../src/evm/tracing/trace-budget.ts'
import { createVm } from '../../src/evm/vm.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { debuggerBuild } from '../support/debugger-cases.ts'
import { run, world } from '../support/execution.ts'

const { TRACE_SEED, TRACE_RUNS = '2' } = process.env
const PARAMETERS = {
  numRuns: Number(TRACE_RUNS),
  ...(TRACE_SEED !== undefined && { seed: Number(TRACE_SEED) }),
}
const GAS = 3_000_000n
const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })

const small = fc.nat({ max: 6 }).map(String)
const bytes = (length: number) => fc.constant(`0x${'12'.repeat(length)}`)
/** Arguments of the functions that are called; `SELF` is the contract. */
const CALLS: Readonly<Record<string, readonly fc.Arbitrary<unknown>[]>> = {
  values: [small, small, bytes(4), fc.boolean()],
  loops: [fc.nat({ max: 12 })],
  factorial: [small],
  memories: [small],
  calling: [fc.constant('SELF'), small],
  fail: [fc.nat({ max: 20 })],
}
const calls = fc.array(
  fc.oneof(...Object.entries(CALLS).map(([name, args]) => fc.tuple(fc.constant(name), fc.tuple(...args)))),
  { minLength: 2, maxLength: 5 },
)

/** A contract of the fixtures with its maps. */
async function read(name: string) {
  const build = debuggerBuild(name)
  const compilation = readCompilation(build)
  const map = new CompilationMap(compilation)
  const sources = await DebugSources.read(compilation, map)
  const { abi, evm } = build.output.contracts['Old.sol']?.Old ?? { abi: [], evm: undefined }
  const code = map.code({ file: 'Old.sol', name: 'Old' }, false)
  if (code === undefined) throw new Error(`${name} has no map`)
  return { face: new Interface(abi), object: evm?.bytecode.object ?? '', sources, code }
}
type Contract = Awaited<ReturnType<typeof read>>

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex.replace('0x', ''), 'hex'))

async function deploy(state: Overlay, vm: Vm, { face, object }: Contract): Promise<Hex> {
  const data = bytesOf(object + face.encodeDeploy([5, `0x${'12'.repeat(32)}`]).slice(2))
  const { created } = await run(state, { to: null, data, gas: GAS }, { vm })
  if (created === undefined) throw new Error('the contract is not deployed')
  return created
}

/** What a call does, and each statement that it passes. The state stays as it was. */
async function trace(state: Overlay, vm: Vm, to: Hex, data: Uint8Array, { sources, code }: Contract) {
  const recorder = new ExecutionRecorder({ budget: new TraceBudget(2 ** 28), chapterBytes: 2 ** 26 })
  const copy = new Overlay(state)
  const result = await run(copy, { to, data, gas: GAS }, { vm, tracer: recorder })
  const execution = recorder.execution()
  if (execution === undefined) throw new Error('nothing ran')
  const steps = await readSourceSteps({
    execution,
    mappedCode: () => ({ code, sources }),
    pause: () => undefined,
  })
  const lines = Array.from({ length: steps.length }, (_, index) => {
    const stop = steps.at(index)
    return `${stop?.step} ${stop?.frame.depth} ${stop?.frame.function?.name}:${stop?.statement.line}`
  })
  return { result, lines, failures: execution.failures }
}

describe.each(['Old-0.4.26', 'Old-0.5.17', 'Old-0.7.6', 'Old-0.8.35', 'Old-0.8.24-optimized'])(
  '%s',
  (name) => {
    it('has the same source trace compiled and interpreted', async () => {
      const contract = await read(name)
      let compiled = 0
      await fc.assert(
        fc.asyncProperty(calls, fc.integer({ min: 1, max: 8 }), async (list, hotAfter) => {
          const hotCode = new HotCode()
          const hot = createVm({ chainId: 33, hotAfter, hotCode })
          const [left, right] = [world(), world()]
          const to = await deploy(left, hot, contract)
          expect(await deploy(right, interpreted, contract)).toBe(to)
          for (const [called, args] of list) {
            const values = args.map((one) => (one === 'SELF' ? to : one))
            const data = bytesOf(contract.face.encodeFunctionData(called, values))
            const traced = await trace(left, hot, to, data, contract)
            expect(await trace(right, interpreted, to, data, contract)).toEqual(traced)
            expect(traced.lines.length).toBeGreaterThan(0)
            const result = await run(left, { to, data, gas: GAS }, { vm: hot })
            expect(result).toEqual(traced.result)
            expect(await run(right, { to, data, gas: GAS }, { vm: interpreted })).toEqual(result)
            expect(left.changes()).toEqual(right.changes())
          }
          compiled += hotCode.bytes
        }),
        PARAMETERS,
      )
      expect(compiled).toBeGreaterThan(0)
    })
  },
)
