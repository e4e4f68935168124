/** Self time of a CPU profile, and the processor time of a process whose threads and children have ended. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'

const script = (name: string) => new URL(`../../../scripts/bench/${name}.mjs`, import.meta.url).href

interface Frame {
  functionName: string
  url: string
  lineNumber: number
  columnNumber: number
}
const { selfTimes, moduleOf } = (await import(script('profile'))) as {
  selfTimes(
    profile: object,
    windows: [number, number][],
    nameOf: (frame: Frame) => string,
  ): Map<string, number>
  moduleOf(frame: Frame): string
}
const { processorTime } = (await import(script('measure'))) as { processorTime(pid: number): () => number }

const frame = (functionName: string, url = 'file:///x.js') => ({
  functionName,
  url,
  lineNumber: 0,
  columnNumber: 0,
})

describe('self time', () => {
  const profile = {
    nodes: ['a', 'b', '(idle)'].map((name, index) => ({ id: index + 1, callFrame: frame(name) })),
    startTime: 1000,
    // Taken at 1100, 1110, 1130, 1160 and 1200.
    samples: [1, 2, 1, 3, 1],
    timeDeltas: [100, 10, 20, 30, 40],
  }

  it('is the time from a sample to the next one, by name, without idle time', () => {
    expect([...selfTimes(profile, [[0, 5000]], ({ functionName }) => functionName)]).toEqual([
      ['a', 10 + 30 + 0],
      ['b', 20],
    ])
  })

  it('omits samples outside the windows', () => {
    const windows: [number, number][] = [
      [1105, 1120],
      [1155, 1170],
    ]
    expect([...selfTimes(profile, windows, ({ functionName }) => functionName)]).toEqual([['b', 20]])
  })
})

it.each([
  [frame('read', 'node:fs'), 'node:'],
  [frame('(garbage collector)', ''), '(garbage collector)'],
  [frame('recover', ''), 'native: recover'],
  [frame('f', 'file:///p/node_modules/@scope/name/lib/a.js'), '@scope/name'],
  [frame('f', 'file:///p/src/evm/evm.ts'), 'src/evm/evm.ts'],
])('%o counts as %s', (callFrame, name) => {
  expect(moduleOf(callFrame)).toBe(name)
})

const BUSY = `
  const { spawnSync } = require('node:child_process')
  const { Worker, isMainThread } = require('node:worker_threads')
  const spin = 'const end = process.cpuUsage().user + 60_000; while (process.cpuUsage().user < end);'
  spawnSync(process.execPath, ['-e', spin])
  new Worker(spin, { eval: true }).on('exit', () => {
    const { user, system } = process.cpuUsage()
    process.stdout.write(String((user + system) / 1000))
  })
  process.stdin.resume()`

it('processor time counts threads and children that have ended', async () => {
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'pipe', 'inherit'] })
  const read = processorTime(child.pid as number)
  const [reported] = (await once(child.stdout, 'data')) as [Buffer]
  // Its own report has the ended thread, not the ended child, which took at least 60 ms; both are exact to two ticks.
  expect(read()).toBeGreaterThan(Number(String(reported)) + 60 - 40)
  child.kill('SIGKILL')
  await once(child, 'exit')
})
