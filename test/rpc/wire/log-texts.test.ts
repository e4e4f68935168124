/** Texts of logs that are kept: every answer is what the objects are, however often and in whatever order they are asked for. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { LogView } from '../../../src/engine/model.ts'
import { toRpcLog } from '../../../src/rpc/wire/log.ts'
import { LogTexts } from '../../../src/rpc/wire/log-texts.ts'
import { fixedHex } from '../../support/arbitraries.ts'

/** Blocks of some logs, each decoded twice: the same hash, another object. */
const blocks = fc.array(
  fc.record({
    hash: fixedHex(32),
    number: fc.nat({ max: 1 << 20 }),
    transactionHash: fixedHex(32),
    logs: fc.array(
      fc.record({
        address: fixedHex(20),
        topics: fc.array(fixedHex(32), { maxLength: 4 }),
        data: fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.uint8Array({ minLength: 300, maxLength: 1500 })),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
  { minLength: 1, maxLength: 8 },
)

/** Which logs an answer has: of which block, decoded for the first or second time, which of its logs, and whether removed. */
const picks = fc.array(
  fc.tuple(
    fc.nat(7),
    fc.boolean(),
    fc.nat(5),
    fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  ),
  { minLength: 1, maxLength: 40 },
)

function viewsOf(chain: typeof blocks extends fc.Arbitrary<infer T> ? T : never): LogView[][] {
  return [0, 1].map(() =>
    chain.flatMap(({ hash, number, transactionHash, logs }) => {
      const block = { hash, block: { header: { number, timestamp: number } } }
      return logs.map(
        (log, logIndex): LogView => ({
          log,
          block,
          transaction: { hash: transactionHash },
          transactionIndex: logIndex >> 1,
          logIndex,
          removed: false,
        }),
      )
    }),
  )
}

const textOf = (views: readonly LogView[]) => JSON.stringify(views.map((view) => toRpcLog(view)))

it('serialises logs like their objects, within its bound', () => {
  const bound = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom(700, 2_000, 40_000))
  fc.assert(
    fc.property(blocks, fc.array(picks, { maxLength: 12 }), bound, (chain, queries, [slabs, slabBytes]) => {
      const most = slabs * slabBytes
      const texts = new LogTexts((view) => JSON.stringify(toRpcLog(view)), most, slabBytes)
      const decoded = viewsOf(chain)
      // What was answered before stays as it was, whatever is dropped and written later.
      const answers: (readonly [string, () => string])[] = []
      for (const query of queries) {
        const views = query.map(([block, again, log, removed]) => {
          const views = decoded[again ? 1 : 0] as LogView[]
          return { ...(views[(block * 6 + log) % views.length] as LogView), removed }
        })
        const answer = texts.array(views)
        answers.push([textOf(views), () => answer.toString()])
        expect(texts.bytes).toBeLessThanOrEqual(most)
      }
      for (const [expected, answered] of answers) expect(answered()).toBe(expected)
    }),
  )
})

it('serialises a log once while its text is cached', () => {
  const views = Array.from({ length: 200 }, (_, logIndex): LogView => {
    const log = { address: '0xaa', topics: [], data: new Uint8Array(100) } as const
    const block = { hash: '0xbb', block: { header: { number: logIndex, timestamp: 7 } } } as const
    return { log, block, transaction: { hash: '0xcc' }, transactionIndex: 0, logIndex: 0, removed: false }
  })
  let written = 0
  const texts = new LogTexts(
    (view) => {
      written++
      return JSON.stringify(toRpcLog(view))
    },
    1 << 20,
    16 << 10,
  )
  const some = views.filter((_, i) => i % 3 === 0)
  for (const asked of [some, views, views.slice(50), some]) {
    expect(texts.array(asked).toString()).toBe(textOf(asked))
  }
  expect(written).toBe(views.length)
})
