/** Opening a session pauses: trees of sources and long executions are read in slices. Counts pauses, not time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DebugSources } from '../../src/debugger/debug-sources.ts'
import { readSourceSteps } from '../../src/debugger/source-steps.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { DebuggerCase, debuggerBuild } from '../support/debugger-cases.ts'

describe('opening a session', () => {
  let of: DebuggerCase
  beforeAll(async () => {
    of = await DebuggerCase.open('Old-0.8.35')
  })
  afterAll(() => of.node.close())

  it('pauses behind each member of a contract that it reads', async () => {
    const compilation = readCompilation(debuggerBuild('Old-0.8.35'))
    let pauses = 0
    const pause = () => {
      pauses++
      return undefined
    }
    const sources = await DebugSources.read(compilation, new CompilationMap(compilation), pause)
    const functions = sources.files.get('Old.sol')?.functions ?? []
    expect(pauses).toBeGreaterThan(functions.length)
  })

  it('pauses at least every 10,000 steps that it follows', async () => {
    const { address } = await of.deploy(5, `0x${'12'.repeat(32)}`)
    const { session } = await of.debug(await of.call(address, 'loops', 40))
    const { execution, codes } = session
    let pauses = 0
    const steps = await readSourceSteps({
      execution,
      mappedCode: () => codes[0],
      pause() {
        pauses++
        return undefined
      },
    })
    expect(execution.length).toBeGreaterThan(12_000)
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(execution.length / 10_000))
    expect(steps.length).toBeGreaterThan(100)
  })
})
