/** Logs that are answered as text: the same JSON as that of the objects, member by member. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { LogView } from '../../../src/engine/model.ts'
import { RawJson } from '../../../src/rpc/raw-json.ts'
import { createLogTexts, toRpcLog, toRpcLogs } from '../../../src/rpc/wire/log.ts'
import { fixedHex } from '../../support/arbitraries.ts'

const index = fc.nat({ max: 1 << 20 })

const views: fc.Arbitrary<LogView> = fc.record({
  log: fc.record({
    address: fixedHex(20),
    topics: fc.array(fixedHex(32), { maxLength: 4 }),
    data: fc.uint8Array({ maxLength: 200 }),
  }),
  block: fc.record({
    hash: fixedHex(32),
    block: fc.record({ header: fc.record({ number: index, timestamp: index }) }),
  }),
  transaction: fc.record({ hash: fixedHex(32) }),
  transactionIndex: index,
  logIndex: index,
  removed: fc.boolean(),
})

const dialects = fc.constantFrom('rsk', 'hardhat', 'anvil')

it('the text of many logs equals the serialised objects of few', () => {
  fc.assert(
    fc.property(fc.array(views, { minLength: 1, maxLength: 60 }), dialects, (list, dialect) => {
      const answer = toRpcLogs(list, createLogTexts(dialect), dialect)
      expect(answer instanceof RawJson).toBe(list.length > 16)
      const text = answer instanceof RawJson ? answer.toString() : JSON.stringify(answer)
      expect(text).toBe(JSON.stringify(list.map((view) => toRpcLog(view, dialect))))
    }),
  )
})
