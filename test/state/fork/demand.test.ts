import { AsyncLocalStorage } from 'node:async_hooks'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { NodeError } from '../../../src/errors.ts'
import { Demand } from '../../../src/state/fork/demand.ts'
import type { RemoteCall, RemoteState, StateItem } from '../../../src/state/remote/model.ts'

const CODE: Hex = `0x${'c0'.repeat(20)}`
const CALL: RemoteCall = { to: CODE, data: Uint8Array.of(1) }
const cell = (slot: bigint): StateItem => ({ kind: 'cell', address: CODE, slot })
const ACCOUNT: StateItem = { kind: 'account', address: CODE }

/** A state whose slots name the next ones, up to 60; notes what is asked of it, in order. */
function listState(hints: readonly StateItem[] = []) {
  const known = new Set<string>()
  const log: string[] = []
  const name = (item: StateItem) => (item.kind === 'account' ? 'account' : String(item.slot))
  const state: RemoteState = {
    block: { number: 1, hash: '0x01' },
    account: () => (known.has('account') ? { account: undefined } : undefined),
    cell: (_address, slot) => (known.has(String(slot)) ? (slot === 60n ? 0n : slot + 1n) : undefined),
    code: () => undefined,
    async fetch(items) {
      log.push(`fetch ${items.map(name).join(' ')}`)
      await Promise.resolve()
      for (const item of items) known.add(name(item))
    },
    async hint() {
      log.push('hint')
      await Promise.resolve()
      return hints
    },
    call: async () => new Uint8Array(),
  }
  return { state, log }
}

/** Reads the account, then slot after slot from each head on; a missing slot reads 0 and ends its list. */
function walk(demand: Demand, state: RemoteState, heads: readonly bigint[]): number {
  if (state.account(CODE) === undefined) demand.missItem(state, ACCOUNT)
  let count = 0
  for (const head of heads) {
    for (let slot = head; slot !== 0n; count++) {
      const next = state.cell(CODE, slot) as bigint | undefined
      if (next === undefined) demand.missItem(state, cell(slot))
      slot = next ?? 0n
    }
  }
  return count
}

const slots = Array.from({ length: 60 }, (_, index) => cell(BigInt(index + 1)))

describe('a run', () => {
  it('without missing state runs once', async () => {
    let runs = 0
    expect(
      await new Demand().run(() => {
        runs++
        return 7
      }),
    ).toBe(7)
    expect(runs).toBe(1)
  })

  it('fetches all its missing state together', async () => {
    const { state, log } = listState()
    const demand = new Demand()
    expect(await demand.run(() => walk(demand, state, [60n, 60n]))).toBe(2)
    expect(log).toEqual(['fetch account 60'])
  })

  it('of a call requests hints while it fetches the code', async () => {
    const { state, log } = listState([ACCOUNT, ...slots])
    const demand = new Demand()
    expect(
      await demand.run(
        () => walk(demand, state, [1n]),
        () => CALL,
      ),
    ).toBe(60)
    expect(log.slice(0, 2).sort()).toEqual(['fetch account 1', 'hint'])
    expect(log).toHaveLength(3)
    expect(log[2]).toMatch(/^fetch 2 3 .* 60$/)
  })

  it('of a call to known code requests hints when a second round is needed', async () => {
    const { state, log } = listState(slots)
    const demand = new Demand()
    await state.fetch([ACCOUNT])
    await demand.run(
      () => walk(demand, state, [60n]),
      () => CALL,
    )
    expect(log).toEqual(['fetch account', 'fetch 60'])
    await demand.run(
      () => walk(demand, state, [1n]),
      () => CALL,
    )
    expect(log.filter((line) => line === 'hint')).toHaveLength(1)
    expect(log.length).toBeLessThanOrEqual(6)
  })

  it('continues in rounds where the upstream gives no hints', async () => {
    const { state, log } = listState()
    const demand = new Demand()
    expect(
      await demand.run(
        () => walk(demand, state, [41n]),
        () => CALL,
      ),
    ).toBe(20)
    expect(log.filter((line) => line === 'hint')).toHaveLength(1)
    expect(log.filter((line) => line.startsWith('fetch'))).toHaveLength(20)
  })

  it('throws its own error only when nothing was missing', async () => {
    const { state } = listState()
    const demand = new Demand()
    const run = () => {
      if (walk(demand, state, [60n]) > 0) throw new NodeError('internal', `after ${state.cell(CODE, 60n)}`)
    }
    await expect(demand.run(run)).rejects.toThrow('after 0')
  })

  it('fails when a fetch does not bring what was missing', async () => {
    const { state } = listState()
    const demand = new Demand()
    const empty: RemoteState = { ...state, fetch: async () => {} }
    await expect(demand.run(() => demand.missItem(empty, cell(3n)))).rejects.toThrow(/does not give .*3/)
  })

  it('is independent of concurrent runs', async () => {
    const first = listState()
    const second = listState()
    const demand = new Demand()
    const walkSlowly = async (state: RemoteState, head: bigint) => {
      await Promise.resolve()
      return walk(demand, state, [head])
    }
    const counts = await Promise.all([
      demand.run(() => walkSlowly(first.state, 59n)),
      demand.run(() => walkSlowly(second.state, 60n)),
    ])
    expect(counts).toEqual([2, 1])
    expect(first.log).toEqual(['fetch account 59', 'fetch 60'])
    expect(second.log).toEqual(['fetch account 60'])
  })
})

/** A promise and what settles it. */
function gate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

describe('missing state', () => {
  /** Reads a slot, and takes a miss for an answer. */
  function readAnyhow(demand: Demand, state: RemoteState, slot: bigint): string {
    try {
      const value = state.cell(CODE, slot) as bigint | undefined
      if (value === undefined) demand.missItem(state, cell(slot))
      return String(value)
    } catch {
      return 'caught'
    }
  }

  it('is fetched even when the code that reads it catches every error', async () => {
    const { state, log } = listState()
    const demand = new Demand()
    expect(await demand.run(() => readAnyhow(demand, state, 60n))).toBe('0')
    expect(await demand.query(() => readAnyhow(demand, state, 59n))).toBe('60')
    expect(log).toEqual(['fetch 60', 'fetch 59'])
  })

  it('within a run of a query repeats that run only', async () => {
    const { state } = listState()
    const demand = new Demand()
    let queries = 0
    const value = await demand.query(async () => {
      queries++
      await Promise.resolve()
      return demand.run(async () => {
        await Promise.resolve()
        return readAnyhow(demand, state, 60n)
      })
    })
    expect([value, queries]).toEqual(['0', 1])
  })

  it('outside a run of a query repeats the query, even when the error is caught', async () => {
    const { state } = listState()
    const demand = new Demand()
    let queries = 0
    const values = await demand.query(() => {
      queries++
      return Promise.all([
        demand.run(async () => {
          await Promise.resolve()
          return 'none'
        }),
        readAnyhow(demand, state, 60n),
      ])
    })
    expect([values, queries > 1]).toEqual([['none', '0'], true])
  })

  it('is not fetched for a query after its deadline, whose runs have no others', async () => {
    const deadline = Date.now() + 1000
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    for (const isWithinRun of [false, true]) {
      const { state, log } = listState()
      const demand = new Demand()
      const clock = vi.spyOn(Date, 'now').mockReturnValue(deadline)
      const read = async () => {
        // The first fetch is in time, and it is late for the second.
        if (log.length > 0) clock.mockReturnValue(deadline + 1)
        return walk(demand, state, [59n])
      }
      const query = demand.query(() => (isWithinRun ? demand.run(read) : read()), { deadline })
      await expect(query).rejects.toThrow(expect.objectContaining({ kind: 'limit-exceeded' }))
      expect(log).toEqual(['fetch account 59'])
    }
  })

  it('is separate for queries, jobs and their runs, in any order of their starts and reads', async () => {
    const order = fc.array(fc.nat({ max: 5 }), { minLength: 6, maxLength: 24 })
    const kinds = fc.array(fc.constantFrom('query', 'queryWithRun', 'job', 'jobWithRun'), {
      minLength: 2,
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(kinds, order, async (work, turns) => {
        const demand = new Demand()
        const waiting: (() => void)[] = []
        const turn = () => new Promise<void>((resolve) => waiting.push(resolve))
        /** What each reads, in order; a caught miss would show as another text. */
        const states = work.map(() => listState())
        const read = async (index: number) => {
          const { state } = states[index] as ReturnType<typeof listState>
          const texts: string[] = []
          for (const slot of [58n, 59n, 60n]) {
            await turn()
            // A job throws what it misses; all else may swallow it.
            if (work[index] !== 'job') texts.push(readAnyhow(demand, state, slot))
            else {
              const value = state.cell(CODE, slot) as bigint | undefined
              if (value === undefined) demand.missItem(state, cell(slot))
              texts.push(String(value))
            }
          }
          return texts.join(' ')
        }
        let ended = 0
        const effects = work.map(() => 0)
        const results = work.map(async (kind, index) => {
          await turn()
          const ran = {
            query: () => demand.query(() => read(index)),
            queryWithRun: () =>
              demand.query(async () => {
                const texts = await demand.run(() => read(index))
                effects[index] = (effects[index] ?? 0) + 1
                return texts
              }),
            job: () => demand.restart(() => read(index)),
            jobWithRun: () => demand.restart(() => demand.run(() => read(index))),
          }[kind]
          const text = await ran()
          ended++
          return text
        })
        // Lets one after another go on, in the order of the schedule, until all have ended.
        for (let step = 0; ended < work.length; step++) {
          await new Promise((resolve) => setImmediate(resolve))
          const [next] = waiting.splice(
            (turns[step % turns.length] as number) % Math.max(1, waiting.length),
            1,
          )
          next?.()
        }
        expect(await Promise.all(results)).toEqual(work.map(() => '59 60 0'))
        // A query whose runs missed something goes on after them once.
        expect(effects).toEqual(work.map((kind) => (kind === 'queryWithRun' ? 1 : 0)))
        // What one missed was fetched for it alone.
        for (const { log } of states)
          expect(log.join(' ').replaceAll('fetch ', '').split(' ').sort()).toEqual(['58', '59', '60'])
      }),
      { numRuns: 200 },
    )
  })

  it('of work that outlives its run is thrown', async () => {
    const { state } = listState()
    const demand = new Demand()
    const { passed, open } = gate()
    const left: Promise<unknown>[] = []
    for (const kind of ['run', 'query'] as const) {
      // The first attempt misses, so that the second has a context.
      await demand[kind](() => {
        left.push(
          passed.then(() => {
            demand.missItem(state, cell(7n))
          }),
        )
        return walk(demand, state, [60n])
      })
    }
    // The second has a context, so that those of before count again.
    const others = [demand.query(() => passed), demand.query(() => passed)]
    open()
    for (const { status } of await Promise.allSettled(left)) expect(status).toBe('rejected')
    await Promise.all(others)
  })
})

describe('async contexts', () => {
  it('are not used by successive queries, jobs and runs without missing state', async () => {
    const used = vi.spyOn(AsyncLocalStorage.prototype, 'run')
    onTestFinished(() => used.mockRestore())
    const demand = new Demand()
    for (let i = 0; i < 3; i++) {
      await demand.query(() => demand.run(async () => i))
      await demand.restart(() => demand.restart(() => demand.run(async () => i)))
    }
    await Promise.all([demand.restart(async () => 1), demand.restart(() => demand.run(async () => 2))])
    expect(used).not.toHaveBeenCalled()
  })

  it('are disabled when the last of them has ended', async () => {
    const used = vi.spyOn(AsyncLocalStorage.prototype, 'run')
    const disabled = vi.spyOn(AsyncLocalStorage.prototype, 'disable')
    onTestFinished(() => {
      used.mockRestore()
      disabled.mockRestore()
    })
    const { state } = listState()
    const demand = new Demand()
    await Promise.all([
      demand.query(async () => walk(demand, state, [57n])),
      demand.query(async () => walk(demand, state, [58n])),
    ])
    expect(used.mock.calls.length).toBeGreaterThan(1)
    expect(disabled.mock.calls.length).toBeGreaterThan(0)
    const [lastUse, lastEnd] = [used, disabled].map(({ mock }) => mock.invocationCallOrder.at(-1) ?? 0)
    expect(lastEnd).toBeGreaterThan(lastUse as number)
  })
})

describe('a job with side effects', () => {
  it('restarts after its first missing state is fetched', async () => {
    const { state } = listState()
    const demand = new Demand()
    const effects: string[] = []
    const result = await demand.restart(async () => {
      const count = walk(demand, state, [58n])
      effects.push(`walked ${count}`)
      return count
    })
    expect(result).toBe(3)
    expect(effects).toEqual(['walked 3'])
  })
})
