/** Counts of instructions: those of the steps of the run, and of compiled code's result nothing changes. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ExecutedCode } from '../../src/coverage/executed-codes.ts'
import { ExecutedCodes } from '../../src/coverage/executed-codes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { Recordings } from '../../src/engine/recording/recordings.ts'
import type { Vm } from '../../src/evm/rules.ts'
import type { Tracer } from '../../src/evm/tracing/tracer.ts'
import { createVm } from '../../src/evm/vm.ts'
import { observeOurs } from '../support/differential.ts'
import { situations } from '../support/random-situations.ts'

const { COMPILED_RUNS } = process.env
const PARAMETERS =
  COMPILED_RUNS === undefined ? { numRuns: 150, seed: 20_262 } : { numRuns: Number(COMPILED_RUNS) }

/** Counts of the instructions, as `<creation> <code> <pc>`, and of the jumps of JUMPI, with `>`. */
type Counts = Map<string, number>

function add(counts: Counts, key: string, by = 1): void {
  if (by > 0) counts.set(key, (counts.get(key) ?? 0) + by)
}

function countsOf(codes: readonly ExecutedCode[]): Counts {
  const found: Counts = new Map()
  for (const { code, isCreation, counts } of codes) {
    const key = `${isCreation} ${keccakHex(code)}`
    for (const [pc, runs] of counts.runs.entries()) add(found, `${key} ${pc}`, runs)
    for (const [pc, jumps] of counts.jumps.entries()) add(found, `${key} ${pc}>`, jumps)
  }
  return found
}

/** The same VM under a tracer that counts its steps: the oracle. */
function stepped(vm: Vm, counts: Counts): Vm {
  return {
    ...vm,
    run(message, state, env, options) {
      const open: { creates: boolean; last?: { key: string; pc: number; condition: bigint } }[] = []
      const tracer: Tracer = {
        enter: ({ kind }) => void open.push({ creates: kind === 'create' || kind === 'create2' }),
        exit: () => void open.pop(),
        step({ code, pc, stack, sp }, opcode) {
          const key = `${open.at(-1)?.creates} ${keccakHex(code)} ${pc}`
          // Behind a truncated push; a STOP is only counted right behind the code.
          if (pc <= code.length) add(counts, key)
          const last = open.at(-1)
          if (last !== undefined && opcode === 0x57 && sp >= 2) {
            last.last = { key, pc, condition: stack[sp - 2] ?? 0n }
          } else if (last !== undefined) delete last.last
        },
        stepped({ pc }, _cost, failure) {
          const last = open.at(-1)?.last
          if (last === undefined || failure !== undefined || last.condition === 0n) return
          // A jump to the next instruction cannot be told from going on.
          if (pc !== last.pc) add(counts, `${last.key}>`)
        },
      }
      return vm.run(message, state, env, { ...options, tracer })
    },
  }
}

it('counts what a tracer of steps sees, also where code would run compiled, and changes no result', async () => {
  const compiled = createVm({ chainId: 33, hotAfter: 0 })
  const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
  let instructions = 0
  await fc.assert(
    fc.asyncProperty(situations('chain'), async (situation) => {
      const recordings = new Recordings()
      recordings.startCoverage(['transactions'])
      const recorded = await observeOurs(situation, recordings.on(compiled, 'transactions'))
      expect(recorded).toEqual(await observeOurs(situation, compiled))
      const expected: Counts = new Map()
      await observeOurs(situation, stepped(interpreted, expected))
      expect(countsOf(recordings.codes.all)).toEqual(expected)
      // Beside gas, which needs steps, the counts are the same.
      recordings.startCoverage(['transactions'])
      recordings.startGas()
      await observeOurs(situation, recordings.on(compiled, 'transactions'))
      expect(countsOf(recordings.codes.all)).toEqual(expected)
      instructions += expected.size
    }),
    PARAMETERS,
  )
  expect(instructions).toBeGreaterThan(1000)
}, 120_000)

it('leaves out codes beyond its memory, and says how many', () => {
  const codes = new ExecutedCodes(20_000)
  const countOf = (length: number) => {
    const tracer = codes.tracer()
    tracer.enter?.({
      kind: 'call',
      depth: 0,
      from: '0x',
      to: '0x',
      value: 0n,
      gas: 0n,
      input: new Uint8Array(),
      isPrecompile: false,
      runsCode: true,
    })
    return tracer.countsOf?.(new Uint8Array(length))
  }
  expect(countOf(1000)?.runs.length).toBe(1001)
  expect(countOf(24_000)?.runs.length).toBe(1024)
  expect(codes.all).toHaveLength(1)
  expect(codes.dropped).toBe(1)
  codes.clear()
  expect(codes.dropped).toBe(0)
})

it('keeps counts that grow while code runs within the memory for the record', () => {
  const codes = new ExecutedCodes(100_000)
  const counts = Array.from({ length: 9 }, (_, index) => {
    const tracer = codes.tracer()
    tracer.enter?.({ kind: 'create' } as Parameters<NonNullable<Tracer['enter']>>[0])
    return tracer.countsOf?.(new Uint8Array(2000).fill(index))
  })
  expect(codes.all).toHaveLength(9)
  for (const one of counts) one?.reach(1999)
  const bytes = codes.all.reduce((sum, { code, counts: { size } }) => sum + code.length + size, 0)
  expect(bytes).toBeLessThanOrEqual(100_000)
  expect(codes.all.length).toBeGreaterThan(0)
  expect(codes.all.length + codes.dropped).toBe(9)
})
