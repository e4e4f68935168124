/** The lines that solidity-coverage sees: its instrumentation of the sources, and its collector on the steps of their runs. */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const Instrumenter = require('solidity-coverage/lib/instrumenter.js')
const Coverage = require('solidity-coverage/lib/coverage.js')
const Collector = require('solidity-coverage/lib/collector.js')

const PUSH1 = 0x60
const STEP = { pc: 0, opcode: { name: 'PUSH1' }, stack: { length: 0 } }

/**
 * Instruments sources by path.
 * @param {Record<string, { content: string }>} sources
 * @param {(path: string) => boolean} isCovered those that are not stay as they are
 */
export function instrument(sources, isCovered) {
  const instrumenter = new Instrumenter()
  const coverage = new Coverage()
  const instrumented = {}
  for (const [path, { content }] of Object.entries(sources)) {
    if (!isCovered(path)) {
      instrumented[path] = { content }
      continue
    }
    const info = instrumenter.instrument(content, path)
    coverage.addContract(info, path)
    instrumented[path] = { content: info.contract }
  }
  const collector = new Collector(instrumenter.instrumentationData, false)
  return {
    sources: instrumented,
    /** A tracer that shows each PUSH1 to the collector, which looks for its hashes on the stack. */
    tracer: {
      step({ pc, stack, sp }, opcode) {
        if (pc === 0) collector.pcZeroCounter++
        if (opcode !== PUSH1 || sp === 0) return
        collector.step({ ...STEP, pc: -1, stack: { length: sp, [sp - 1]: stack[sp - 1] } })
      },
    },
    /** Hits of lines by path. */
    lines() {
      const data = coverage.generate(instrumenter.instrumentationData)
      return Object.fromEntries(Object.entries(data).map(([path, { l }]) => [path, l]))
    },
  }
}
