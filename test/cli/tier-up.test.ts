/** The settings of V8 that the command makes, against those that the running release has. */
import { execFileSync } from 'node:child_process'
import v8 from 'node:v8'
import { afterEach, expect, it, vi } from 'vitest'
import { delayOptimization } from '../../src/cli/tier-up.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

it('sets what this release of V8 knows, and to more than its own value', () => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {})
  delayOptimization()
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  expect(set).toHaveBeenCalled()
  for (const [flag] of set.mock.calls) {
    const [name, value] = flag.split('=')
    const own = new RegExp(`type: int  default: ${name}=(\\d+)`).exec(options)?.[1]
    expect(own, `${name} of this release`).toBeDefined()
    expect(Number(value)).toBeGreaterThan(Number(own))
  }
})
