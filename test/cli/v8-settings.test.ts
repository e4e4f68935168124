/** The settings of V8 that the command makes, against those that the running release has. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import v8 from 'node:v8'
import { afterEach, expect, it, vi } from 'vitest'
import { StreamLineWriter } from '../../src/cli/line-writer.ts'
import { readSettings } from '../../src/cli/settings.ts'
import { start } from '../../src/cli/start.ts'
import { delayOptimization, limitHeapGrowth } from '../../src/cli/v8-settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** The settings made so far, and the value that this release of V8 takes for itself of each. */
function settings(): { name: string; value: number; own: number }[] {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  return vi.mocked(v8.setFlagsFromString).mock.calls.map(([flag]) => {
    const [name = '', value] = flag.split('=')
    const own = new RegExp(`type: int  default: ${name}=(\\d+)`).exec(options)?.[1]
    expect(own, `${name} of this release`).toBeDefined()
    return { name, value: Number(value), own: Number(own) }
  })
}

/** Newer releases keep V8's own settings. */
const isDelayed = Number.parseInt(process.versions.node, 10) < 22

it.runIf(isDelayed)('sets only options that this release of V8 has, and to more than its default', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  delayOptimization({ used: () => 0, later() {} })
  const made = settings()
  expect(made).not.toHaveLength(0)
  for (const { value, own } of made) expect(value).toBeGreaterThan(own)
})

it.skipIf(isDelayed)('keeps the settings of V8 in newer releases of Node.js', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  delayOptimization()
  expect(settings()).toEqual([])
})

it.runIf(isDelayed)('restores the defaults of V8 after the process has used some processor time', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  const waits: { milliseconds: number; call: () => void }[] = []
  let used = 400
  delayOptimization({
    used: () => used,
    later: (milliseconds, call) => void waits.push({ milliseconds, call }),
  })
  const late = settings()
  used = 2_990
  waits[0]?.call()
  expect(settings()).toHaveLength(late.length)
  used = 3_100
  waits[1]?.call()
  expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([2_600, 100])
  const back = settings().slice(late.length)
  expect(back.map(({ name }) => name)).toEqual(late.map(({ name }) => name))
  for (const { value, own } of back) expect(value).toBe(own)
})

it('limits the growth of the heap by an option that this release of V8 has and does not set by itself', () => {
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  limitHeapGrowth()
  expect(settings()).toEqual([{ name: '--heap-growing-percent', value: 50, own: 0 }])
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
  expect(settings()).toEqual([])
  await run(['data-dir', join(temporaryFolder(), 'data')])
  expect(settings()).toEqual([{ name: '--heap-growing-percent', value: 50, own: 0 }])
})
