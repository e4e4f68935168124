/** Blocks that are answered as text: the same JSON as that of the objects, member by member. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CHAINS, REMASC_SENDER } from '../../../src/chain/config.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { BlockView } from '../../../src/engine/model.ts'
import { RawJson } from '../../../src/rpc/raw-json.ts'
import { toRpcBlock, toRpcBlockReply } from '../../../src/rpc/wire/block.ts'
import { bytes, fixedHex, headers } from '../../support/arbitraries.ts'

const word = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })

const transactions: fc.Arbitrary<Transaction> = fc.record({
  hash: fixedHex(32),
  nonce: word,
  gasPrice: word,
  gasLimit: word,
  to: fc.option(fixedHex(20)),
  value: word,
  data: bytes(200),
  v: fc.nat(),
  r: word,
  s: word,
  chainId: fc.constant(33),
  raw: bytes(10),
  type: fc.constantFrom(0, 0, 0x203),
  typed: fc.constant(undefined),
  from: fc.oneof(fixedHex(20), fc.constant(REMASC_SENDER)),
  isRemasc: fc.boolean(),
})

const views: fc.Arbitrary<BlockView> = fc
  .record({
    hash: fixedHex(32),
    header: headers,
    transactions: fc.array(transactions, { maxLength: 60, size: 'max' }),
    totalDifficulty: word,
    postState: fixedHex(32),
    pending: fc.boolean(),
  })
  .map(({ header, transactions, pending, ...known }) => ({
    executed: { ...known, block: { header, transactions, uncles: [] }, receipts: [] },
    pending,
  }))

it('the text of a block with many full transactions equals the serialised object of a small one', () => {
  fc.assert(
    fc.property(views, fc.boolean(), fc.boolean(), (view, full, hideRemasc) => {
      const answer = toRpcBlockReply(view, full, CHAINS.regtest, hideRemasc)
      const { length } = view.executed.block.transactions
      expect(answer instanceof RawJson).toBe(full && length > 16)
      const text = answer instanceof RawJson ? answer.toString() : JSON.stringify(answer)
      expect(text).toBe(JSON.stringify(toRpcBlock(view, full, CHAINS.regtest, hideRemasc)))
    }),
  )
})
