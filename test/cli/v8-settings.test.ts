/** The settings of V8 that the command makes, against those that the running release has. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import v8 from 'node:v8'
import { afterEach, expect, it, vi } from 'vitest'
import { StreamLineWriter } from '../../src/cli/line-writer.ts'
import { readSettings } from '../../src/cli/settings.ts'
import { start } from '../../src/cli/start.ts'
import { loadStart } from '../../src/cli/start-command.ts'
import { delayOptimization, limitHeapGrowth } from '../../src/cli/v8-settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** What this release of V8 says of its options. */
const OPTIONS = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })

/** The settings made so far. */
const made = () => vi.mocked(v8.setFlagsFromString).mock.calls.map(([flag]) => flag)

/** The value that this release of V8 takes for itself of an option; `undefined` where it has no such option. */
const ownValue = (name: string) => new RegExp(`type: \\w+  default: ${name}=(\\w+)`).exec(OPTIONS)?.[1]

/** The settings of a new process, and those after it has used so much processor time, by the releases of Node.js. */
const EXPECTED =
  Number.parseInt(process.versions.node, 10) < 22
    ? { early: '--interrupt-budget=264000', own: `--interrupt-budget=${ownValue('--interrupt-budget')}` }
    : Number.parseInt(process.versions.node, 10) < 24
      ? undefined
      : { early: '--efficiency-mode', own: '--no-efficiency-mode' }

it.skipIf(EXPECTED === undefined)('sets an option that this release of V8 has', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  delayOptimization({ used: () => 0, later() {} })
  expect(made()).toEqual([EXPECTED?.early])
  expect(OPTIONS).toMatch(new RegExp(`^ +${EXPECTED?.early.split('=')[0]} `, 'm'))
})

it.runIf(EXPECTED === undefined)('keeps the settings of V8 in Node.js 22', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  delayOptimization()
  expect(made()).toEqual([])
})

it.skipIf(EXPECTED === undefined)('restores those of V8 after the process has used some time', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  const waits: { milliseconds: number; call: () => void }[] = []
  let used = 400
  delayOptimization({
    used: () => used,
    later: (milliseconds, call) => void waits.push({ milliseconds, call }),
  })
  used = 2_990
  waits[0]?.call()
  expect(made()).toEqual([EXPECTED?.early])
  used = 3_100
  waits[1]?.call()
  expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([2_600, 100])
  expect(made()).toEqual([EXPECTED?.early, EXPECTED?.own])
})

it.skipIf(EXPECTED === undefined)('is changed by the commands once the port is open', async () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  // So much that V8's own settings come back at once.
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 4_000_000, system: 0 })
  const writer = new StreamLineWriter(new PassThrough().resume())
  const flags = new Map<string, string | true>([
    ['port', '0'],
    ['quiet', true],
    ['memory', true],
  ])
  const start = await loadStart()
  expect(made()).toEqual([])
  await start(readSettings(flags, {}), { output: writer, errors: writer }, async () => {
    expect(made()).toEqual([EXPECTED?.early, EXPECTED?.own])
  })
  expect(made()).toHaveLength(2)
})

it('limits the growth of the heap by an option that this release of V8 has and does not set by itself', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  limitHeapGrowth()
  expect(made()).toEqual(['--heap-growing-percent=50'])
  expect(ownValue('--heap-growing-percent')).toBe('0')
})

it('limits the growth of the heap for a node with a data directory, not for one in memory', async () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  const writer = new StreamLineWriter(new PassThrough().resume())
  const run = (...flags: [string, string | true][]) =>
    start(
      readSettings(new Map<string, string | true>([['port', '0'], ['quiet', true], ...flags]), {}),
      { output: writer, errors: writer },
      () => Promise.resolve(),
    )
  await run(['memory', true])
  expect(made()).toEqual([])
  await run(['data-dir', join(temporaryFolder(), 'data')])
  expect(made()).toEqual(['--heap-growing-percent=50'])
})
