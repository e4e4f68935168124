import { describe, expect, it } from 'vitest'
import { Call } from '../../src/engine/call.ts'
import { createSerialQueue } from '../../src/engine/serial-queue.ts'

/** A job that runs until it is released, and reports whether it has begun. */
function held() {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const runs: string[] = []
  const job = (name: string) => (): Promise<void> => {
    runs.push(name)
    return gate
  }
  return { runs, release, job }
}

const CANCELLED = 'The call was cancelled: it was not carried out.'
const EXPIRED = 'Execution has got timeout out: the call waited for those before it, and was not carried out.'

describe('a serial queue', () => {
  it('removes a job at once when its call is aborted, and runs the later ones', async () => {
    const { enqueue, idle } = createSerialQueue()
    const { runs, release, job } = held()
    const first = enqueue(job('first'))
    const abort = new AbortController()
    const call = new Call({ deadline: 0, isGone: () => false, signal: abort.signal })
    const second = enqueue(job('second'), call)
    const third = enqueue(job('third'))
    abort.abort()
    await expect(second).rejects.toMatchObject({ kind: 'cancelled', message: CANCELLED })
    release()
    await Promise.all([first, third, idle()])
    expect(runs).toEqual(['first', 'third'])
  })

  it('removes a job when its deadline passes', async () => {
    const { enqueue } = createSerialQueue()
    const { runs, release, job } = held()
    const first = enqueue(job('first'))
    const call = new Call({ deadline: Date.now() + 1, isGone: () => false })
    await expect(enqueue(job('second'), call)).rejects.toMatchObject({
      kind: 'limit-exceeded',
      message: EXPIRED,
    })
    release()
    await first
    expect(runs).toEqual(['first'])
  })

  it('does not run a job whose deadline passed, or whose caller disconnected, before its turn', async () => {
    const { enqueue } = createSerialQueue()
    const { runs, job } = held()
    await expect(enqueue(job('late'), new Call({ deadline: 1, isGone: () => false }))).rejects.toThrow(
      EXPIRED,
    )
    await expect(enqueue(job('gone'), new Call({ deadline: 0, isGone: () => true }))).rejects.toThrow(
      CANCELLED,
    )
    expect(runs).toEqual([])
  })

  it('finishes a call that has begun: its later jobs have no deadline', async () => {
    const { enqueue } = createSerialQueue()
    const abort = new AbortController()
    const call = new Call({ deadline: Date.now() + 60_000, isGone: () => false, signal: abort.signal })
    await enqueue(async () => {}, call)
    abort.abort()
    await expect(enqueue(async ({ isCancelled }) => isCancelled, call)).resolves.toBe(true)
  })

  it('runs waiting jobs after its end, and refuses new ones', async () => {
    const { enqueue, end, idle } = createSerialQueue()
    const { runs, release, job } = held()
    const jobs = [enqueue(job('first')), enqueue(job('second'))]
    end(() => new Error('over'))
    await expect(enqueue(job('third'))).rejects.toThrow('over')
    release()
    await Promise.all([...jobs, idle()])
    expect(runs).toEqual(['first', 'second'])
  })

  it('continues after a job that throws synchronously', async () => {
    const { enqueue } = createSerialQueue()
    const failed = enqueue(() => {
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    await expect(enqueue(async () => 1)).resolves.toBe(1)
  })

  it('runs jobs of a kind together when they wait one directly behind the other, without those whose call has ended', async () => {
    const { enqueue, share } = createSerialQueue()
    const taken: string[] = []
    const submit = share<string, number>(async (first, next) => {
      const jobs = [first]
      for (let job = next(); job !== undefined; job = next()) jobs.push(job)
      taken.push(jobs.map(({ item }) => item).join(' '))
      for (const { resolve } of jobs) resolve(jobs.length)
    })
    const { runs, release, job } = held()
    const first = enqueue(job('first'))
    const abort = new AbortController()
    const aborted = submit('aborted', new Call({ deadline: 0, isGone: () => false, signal: abort.signal }))
    const gone = submit('gone', new Call({ deadline: 0, isGone: () => true }))
    const together = [submit('a'), submit('b')]
    const between = enqueue(job('between'))
    const last = submit('c')
    abort.abort()
    await expect(aborted).rejects.toThrow(CANCELLED)
    release()
    await expect(gone).rejects.toThrow(CANCELLED)
    expect(await Promise.all([...together, last])).toEqual([2, 2, 1])
    await Promise.all([first, between])
    expect(taken).toEqual(['a b', 'c'])
    expect(runs).toEqual(['first', 'between'])
  })

  it('rejects the jobs that were taken together when what runs them throws, and continues', async () => {
    const { enqueue, share } = createSerialQueue()
    const submit = share<string, number>(async (first, next) => {
      first.resolve(1)
      next()
      throw new Error('no')
    })
    const results = await Promise.allSettled([submit('a'), submit('b')])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await expect(enqueue(async () => 1)).resolves.toBe(1)
  })

  it('runs each job of a kind by its observer', async () => {
    const { share } = createSerialQueue()
    const submit = share<string, string>(async (first, next) => {
      const second = next()
      first.resolve(first.item)
      second?.reject(new Error(second.item))
    })
    const observed: string[] = []
    const observedCall = (name: string) =>
      new Call({
        deadline: 0,
        isGone: () => false,
        observer: () => async (job) => {
          observed.push(`${name} begins`)
          return job().finally(() => observed.push(`${name} ends`))
        },
      })
    const results = await Promise.allSettled([submit('a', observedCall('a')), submit('b', observedCall('b'))])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(observed).toEqual(['a begins', 'b begins', 'a ends', 'b ends'])
  })
})
