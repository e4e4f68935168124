/** The lines that solidity-coverage sees: its instrumentation of the sources, and its collector on the steps of their runs. */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const Instrumenter = require('solidity-coverage/lib/instrumenter.js')
const Coverage = require('solidity-coverage/lib/coverage.js')
const Collector = require('solidity-coverage/lib/collector.js')

const PUSH1 = 0x60
const STEP = { pc: 0, opcode: { name: 'PUSH1' }, stack: { length: 0 } }

/** The values of lines that have a single one. */
export function singles(pairs) {
  const found = {}
  for (const [line, value] of pairs) found[line] = found[line] === undefined ? value : null
  return found
}

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
    /** By path: hits of lines, and of both ways of branches by line, where a line has a single one. */
    hits() {
      const data = Object.entries(coverage.generate(instrumenter.instrumentationData))
      return {
        lines: Object.fromEntries(data.map(([path, { l }]) => [path, l])),
        branches: Object.fromEntries(
          data.map(([path, { branchMap, b }]) => [
            path,
            singles(Object.entries(branchMap).map(([id, { line }]) => [line, b[id]])),
          ]),
        ),
      }
    },
  }
}
