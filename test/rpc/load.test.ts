import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Load, type Place } from '../../src/rpc/load.ts'
import { saying } from '../support/refusals.ts'

const LIMITS = { maxPending: 2, maxHeavy: 4, maxHeavyWaiting: 4 }
const from = (owner: string) => ({ label: 'test', owner })
const busy = { kind: 'overloaded' }

describe('the load', () => {
  it('refuses messages beyond its limit, and accepts them again when others are answered', () => {
    const load = new Load(LIMITS)
    expect([load.enter(), load.enter()]).toEqual([undefined, undefined])
    expect(load.isFull).toBe(true)
    expect(load.enter()).toMatchObject(busy)
    load.leave()
    expect(load.isFull).toBe(false)
    expect(load.enter()).toBeUndefined()
    expect(load.figures).toMatchObject({ pending: 2, shed: 1 })
  })

  it('leaves half of the places to other callers, and queues the rest of the calls', async () => {
    const load = new Load(LIMITS)
    const greedy = [1, 2, 3, 4].map(() => load.takePlace(from('a')))
    expect(greedy.map(({ ready }) => ready !== undefined)).toEqual([false, false, true, true])
    expect(() => load.takePlace(from('a'))).toThrow(saying('The node is busy, try again in 1 s'))
    expect(load.takePlace(from('b')).ready).toBeUndefined()
    greedy[0]?.leave()
    await greedy[2]?.ready
    expect(load.figures).toMatchObject({ heavyRunning: 3, heavyWaiting: 1, shed: 1 })
  })

  it('distinguishes callers without keys by their address', () => {
    const load = new Load({ ...LIMITS, maxHeavy: 2, maxHeavyWaiting: 0 })
    const at = (remote: string) => load.takePlace({ label: 'http', owner: '', remote })
    at('10.0.0.1')
    expect(() => at('10.0.0.1')).toThrow(saying('The node is busy, try again in 1 s'))
    expect(at('10.0.0.2').ready).toBeUndefined()
    expect(load.isFull).toBe(true)
  })

  it('gives places to callers round robin', async () => {
    const load = new Load({ maxPending: 1, maxHeavy: 2, maxHeavyWaiting: 100 })
    const order: string[] = []
    const first = [load.takePlace(from('a')), load.takePlace(from('b'))]
    const take = (owner: string) => {
      const place = load.takePlace(from(owner))
      return place.ready?.then(() => {
        order.push(owner)
        place.leave()
      })
    }
    const all = [...Array(5).fill('a'), ...Array(5).fill('b'), ...Array(5).fill('c')].map(take)
    for (const place of first) place.leave()
    await Promise.all(all)
    expect(order).toHaveLength(15)
    expect(new Set(order.slice(0, 4)).size).toBe(3)
    expect(load.figures).toMatchObject({ heavyRunning: 0, heavyWaiting: 0 })
  })

  it('gives the place of a paused call to the next, and counts it again when it resumes', async () => {
    const load = new Load(LIMITS)
    const [first, second, third] = [1, 2, 3].map(() => load.takePlace(from('a')))
    const goOn = first?.pause()
    await third?.ready
    expect(load.figures).toMatchObject({ heavyRunning: 2, heavyWaiting: 1 })
    goOn?.()
    goOn?.()
    expect(load.figures).toMatchObject({ heavyRunning: 3, heavyWaiting: 0 })
    const fourth = load.takePlace(from('a'))
    first?.leave()
    expect(load.figures).toMatchObject({ heavyRunning: 2, heavyWaiting: 1 })
    second?.leave()
    await fourth.ready
    third?.pause()
    third?.leave()
    third?.pause()()
    fourth.leave()
    expect(load.figures).toMatchObject({ heavyRunning: 0, heavyWaiting: 0 })
  })

  it('pauses no more calls than may wait', () => {
    const load = new Load(LIMITS)
    const pause = () => load.takePlace(from('a')).pause()
    pause()
    pause()
    pause()
    expect(load.figures).toMatchObject({ heavyRunning: 1, heavyWaiting: 2 })
    load.takePlace(from('a'))
    expect(() => load.takePlace(from('a'))).toThrow(saying('The node is busy, try again in 1 s'))
  })

  it('never gives more places than it has, and loses none, in any sequence of calls', async () => {
    type Step = { readonly take: string } | { readonly drop: number } | { readonly pause: number }
    const step = fc.oneof(
      fc.record({ take: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ drop: fc.nat(20) }),
      fc.record({ pause: fc.nat(20) }),
    ) satisfies fc.Arbitrary<Step>
    const limits = fc.record({
      maxPending: fc.constant(1),
      maxHeavy: fc.integer({ min: 1, max: 5 }),
      maxHeavyWaiting: fc.nat(5),
    })
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (given, steps) => {
        const load = new Load(given)
        interface Held {
          readonly place: Place
          readonly owner: string
          started: boolean
          goOn?: (() => void) | undefined
          /** Did it go on after a pause? It may be one too many then. */
          wasPaused?: boolean
        }
        const held: Held[] = []
        for (const next of steps) {
          if ('take' in next) {
            try {
              const place = load.takePlace(from(next.take))
              const entry: Held = { place, owner: next.take, started: place.ready === undefined }
              void place.ready?.then(() => (entry.started = true))
              held.push(entry)
            } catch (error) {
              expect(error).toMatchObject(busy)
            }
          } else if ('drop' in next) {
            held.splice(next.drop, 1)[0]?.place.leave()
          } else {
            const entry = held[next.pause]
            if (entry?.goOn !== undefined) {
              entry.goOn()
              entry.goOn = undefined
              entry.started = entry.wasPaused = true
            } else if (entry?.started === true) {
              const { heavyWaiting } = load.figures
              const own = held.filter(({ owner, started }) => owner === entry.owner && !started)
              const hasRoom =
                heavyWaiting < given.maxHeavyWaiting && own.length < Math.ceil(given.maxHeavyWaiting / 2)
              const goOn = entry.place.pause()
              if (hasRoom) Object.assign(entry, { goOn, started: false })
            }
          }
          await Promise.resolve()
          const running = held.filter(({ started }) => started)
          expect(load.figures.heavyRunning).toBe(running.length)
          expect(load.figures.heavyWaiting).toBe(held.length - running.length)
          const fresh = running.filter(({ wasPaused }) => wasPaused !== true)
          expect(fresh.length).toBeLessThanOrEqual(given.maxHeavy)
          for (const owner of ['a', 'b', 'c']) {
            const own = fresh.filter((entry) => entry.owner === owner)
            expect(own.length).toBeLessThanOrEqual(Math.ceil(given.maxHeavy / 2))
          }
        }
        for (const { place } of held) place.leave()
        expect(load.figures).toMatchObject({ heavyRunning: 0, heavyWaiting: 0 })
      }),
    )
  })
})
