import { describe, expect, it } from 'vitest'
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
  it('that misses nothing runs once', async () => {
    let runs = 0
    expect(
      await new Demand().run(() => {
        runs++
        return 7
      }),
    ).toBe(7)
    expect(runs).toBe(1)
  })

  it('fetches all that it missed together', async () => {
    const { state, log } = listState()
    const demand = new Demand()
    expect(await demand.run(() => walk(demand, state, [60n, 60n]))).toBe(2)
    expect(log).toEqual(['fetch account 60'])
  })

  it('of a call asks what code will touch while it fetches the code', async () => {
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

  it('of a call to known code asks once more than one round is needed', async () => {
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

  it('goes on by rounds where the upstream names nothing', async () => {
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

  it('is given up when a fetch does not bring what was missing', async () => {
    const { state } = listState()
    const demand = new Demand()
    const empty: RemoteState = { ...state, fetch: async () => {} }
    await expect(demand.run(() => demand.missItem(empty, cell(3n)))).rejects.toThrow(/does not give .*3/)
  })

  it('does not mix what it missed with runs beside it', async () => {
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

describe('a job with side effects', () => {
  it('starts again from the first thing that it missed', async () => {
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
