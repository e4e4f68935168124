/** Storage under any order of writes, reads, checkpoints, commits and reverts, against maps that are copied as a whole. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { NOTHING } from '../support/execution.ts'

const ADDRESSES: readonly Hex[] = ['0x01', '0x02']
const SLOTS = [0n, 1n, 2n ** 80n]

const address = fc.constantFrom(...ADDRESSES)
const slot = fc.constantFrom(...SLOTS)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ put: fc.bigInt({ min: 0n, max: 9n }), address, slot }) },
  { weight: 3, arbitrary: fc.record({ read: fc.constant(true), address, slot }) },
  { weight: 1, arbitrary: fc.record({ clear: address }) },
  { weight: 5, arbitrary: fc.constantFrom('checkpoint' as const, 'commit' as const, 'revert' as const) },
)

it('equals the result of the same changes on full copies', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const overlay = new Overlay(NOTHING)
      let words = new Map<string, bigint>()
      const copies: Map<string, bigint>[] = []
      for (const step of steps) {
        const version = overlay.storageVersion
        const before = new Map(words)
        if (step === 'checkpoint') {
          overlay.checkpoint()
          copies.push(new Map(words))
        } else if (typeof step === 'string') {
          const copy = copies.pop()
          if (copy === undefined) continue
          overlay[step]()
          if (step === 'revert') words = copy
        } else if ('put' in step) {
          overlay.putStorage(step.address, step.slot, step.put)
          words.set(`${step.address} ${step.slot}`, step.put)
        } else if ('read' in step) {
          expect(overlay.storage(step.address, step.slot)).toBe(
            words.get(`${step.address} ${step.slot}`) ?? 0n,
          )
        } else {
          overlay.clearStorage(step.clear)
          for (const slot of SLOTS) words.delete(`${step.clear} ${slot}`)
        }
        for (const address of ADDRESSES) {
          for (const slot of SLOTS) {
            const word = words.get(`${address} ${slot}`) ?? 0n
            expect(overlay.storage(address, slot)).toBe(word)
            if (word !== (before.get(`${address} ${slot}`) ?? 0n))
              expect(overlay.storageVersion).not.toBe(version)
          }
        }
      }
    }),
    { numRuns: 1000, seed: 5 },
  )
})
