/** Stack traces of EDR's own cases, compiled by several versions of solc: frames, places, kinds of failures, messages. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/node/node.ts'
import { type CaseRun, compiledCases, runCase } from '../support/stack-trace-cases.ts'
import { comparedFrames } from '../support/stack-trace-frames.ts'

/** Compilers with the number of failures whose frames are expected. */
const COMPILERS = {
  '0.5.17': 119,
  '0.6.3': 188,
  '0.7.6': 197,
  '0.8.4': 221,
  '0.8.24-optimized': 223,
  '0.8.35': 223,
  '0.8.35-via-ir': 222,
}

/**
 * A call of this chain passes on all gas, so the caller runs out of gas as well; elsewhere it keeps a part (EIP-150) and
 * reverts (docs/internals/protocol.md#63-calls-and-creations).
 */
const OTHER_GAS_RULE = /\/out-of-gas\/oog-chaining$/

/** In these the optimiser leaves no trace of an inner call, and less is shown. */
const OPTIMIZED_AWAY = [
  /\/storage-mapping-parameter$/,
  /\/recursive-call$/,
  /\/modifier-multiple-underscores-revert$/,
  /\/multiple-modifiers-revert$/,
]

let node: Node
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

describe.each(Object.entries(COMPILERS))('solc %s', (compiler, failures) => {
  it('gives the expected frames of all cases', async () => {
    const compiled = compiledCases(compiler)
    const comparison = { isViaIR: compiler.endsWith('via-ir'), isOptimized: compiler.includes('-') }
    const differing: unknown[] = []
    const runs: CaseRun[] = []
    for (const name of Object.keys(compiled.outputs)) {
      for await (const run of runCase(node, name, compiled)) {
        runs.push(run)
        const { expected, found } = comparedFrames(run, comparison)
        if (JSON.stringify(expected) === JSON.stringify(found)) continue
        if (comparison.isOptimized && OPTIMIZED_AWAY.some((pattern) => pattern.test(name))) {
          expect(expected).toEqual(expect.arrayContaining(found.slice(0, -1)))
          expect(run.frames.at(-1)?.place?.function).toBe('test')
        } else if (OTHER_GAS_RULE.test(name)) expect(run.frames.at(-1)?.kind).toBe('out-of-gas')
        else differing.push({ name: run.name, expected, found })
      }
    }
    expect(differing).toEqual([])
    expect(runs).toHaveLength(failures)
  })
})
