/**
 * Counts work instead of time: how often each block of our code ran, by V8's precise coverage, and the elements that the
 * library of JavaScript went through on its behalf, which coverage does not see.
 */
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

/** Only code below this path counts. */
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

/** Array methods that iterate without calling a function. */
const WALKS = [
  'slice',
  'concat',
  'indexOf',
  'lastIndexOf',
  'includes',
  'reverse',
  'join',
  'shift',
  'unshift',
] as const

type Restore = () => void

/** Counts the steps of iterators and the elements of `WALKS` until it is undone. */
function countBuiltIns(count: (steps: number) => void): Restore {
  const undo: Restore[] = []
  for (const iterator of [[][Symbol.iterator](), new Map().entries(), new Set().values()]) {
    const prototype = Object.getPrototypeOf(iterator)
    const { next } = prototype
    prototype.next = function (this: unknown) {
      count(1)
      return Reflect.apply(next, this, [])
    }
    undo.push(() => {
      prototype.next = next
    })
  }
  for (const name of WALKS) {
    const walk = Array.prototype[name]
    Object.defineProperty(Array.prototype, name, {
      configurable: true,
      writable: true,
      value(this: unknown[], ...values: unknown[]) {
        const result = Reflect.apply(walk, this, values)
        count(Array.isArray(result) ? result.length : this.length)
        return result
      },
    })
    undo.push(() => {
      Object.defineProperty(Array.prototype, name, { configurable: true, writable: true, value: walk })
    })
  }
  return () => {
    for (const each of undo) each()
  }
}

/**
 * How much work each of these functions is, run one after another: about the same numbers each time for the same work. A
 * file that imports this has a process of its own (`vitest.config.ts`), which is slower afterwards.
 */
export async function countWork(runs: readonly (() => unknown)[]): Promise<readonly number[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  let steps = 0
  const counted: number[] = []
  try {
    // Each reading begins the count of the next run: reading takes longer than most runs.
    await session.post('Profiler.takePreciseCoverage')
    for (const run of runs) {
      const restore = countBuiltIns((more) => {
        steps += more
      })
      steps = 0
      try {
        await run()
      } finally {
        restore()
      }
      let total = steps
      const { result } = await session.post('Profiler.takePreciseCoverage')
      for (const { url, functions } of result) {
        if (!url.includes(SOURCES)) continue
        for (const { ranges } of functions) for (const { count } of ranges) total += count
      }
      counted.push(total)
    }
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
  }
  return counted
}
