/** What is logged while a compiler runs, with a line at each millisecond of the timer, and a clock of the test. */
import { expect, it } from 'vitest'
import { CompileProgress } from '../../src/apis/compile-progress.ts'
import { silentLogger } from '../../src/logger.ts'

it('logs the time left by the pace of the last run, and nothing once a run has ended', async () => {
  const lines: string[] = []
  let heard: () => void = () => {}
  const info = (text: string) => {
    lines.push(text)
    heard()
  }
  let now = 0
  const progress = new CompileProgress({ ...silentLogger, info }, 1, () => now)
  const work = (characters: number) => ({ contract: 'A.sol:A', version: '0.8.24', characters })
  const lineAt = (milliseconds: number) => () => {
    now += milliseconds
    return new Promise<void>((resolve) => (heard = resolve))
  }

  await progress.during(work(1_000), lineAt(10_000))
  await progress.during(work(9_000), lineAt(15_000))
  // 9,000 characters took 15 s, so 120,000 take 200.
  await progress.during(work(120_000), lineAt(50_000))
  expect([lines[0], lines[1], lines.at(-1)]).toEqual([
    'compiling A.sol:A by solc 0.8.24: 10 s',
    'compiling A.sol:A by solc 0.8.24: 15 s, 1 min 15 s left',
    'compiling A.sol:A by solc 0.8.24: 50 s, 2 min 30 s left',
  ])

  const count = lines.length
  await expect(progress.during(work(1), () => Promise.reject(new Error('ended')))).rejects.toThrow('ended')
  await new Promise((resolve) => setTimeout(resolve, 3))
  expect(lines).toHaveLength(count)
})
