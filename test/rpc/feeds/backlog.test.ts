import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Backlog } from '../../../src/rpc/feeds/backlog.ts'

it('a backlog keeps the positions of its entries when others are dropped', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant('push' as const), fc.nat(30))), (steps) => {
      const backlog = new Backlog<number>()
      let [pushed, dropped] = [0, 0]
      for (const step of steps) {
        if (step === 'push') backlog.push(pushed++)
        else {
          backlog.dropBefore(step)
          dropped = Math.max(dropped, Math.min(step, pushed))
        }
        expect([backlog.start, backlog.end]).toEqual([dropped, pushed])
        const kept = Array.from({ length: pushed - dropped }, (_, i) => dropped + i)
        expect(backlog.since(0)).toEqual(kept)
        expect(backlog.since(dropped + 2)).toEqual(kept.slice(2))
        expect([backlog.at(dropped - 1), backlog.at(pushed)]).toEqual([undefined, undefined])
        for (const position of kept) expect(backlog.at(position)).toBe(position)
      }
    }),
  )
})
