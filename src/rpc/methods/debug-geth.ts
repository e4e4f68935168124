/** Methods of geth's `debug_` that the reference node lacks. */

import { z } from 'zod'
import { toFixedHex } from '../../encoding/hex.ts'
import { timeLeft } from '../deadlines.ts'
import { hex } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, optional, type Parameter, scalar } from '../parameter.ts'
import { LookupBlock } from '../wire/block-reference.ts'
import { Address, Data, HashText, wholeNumber } from '../wire/scalars.ts'
import { BlockTraces, TraceOptionsObject } from '../wire/trace/registry.ts'
import { ITEM_BYTES, replySize } from '../wire/trace/reply-size.ts'
import { traceExecuted } from './debug.ts'
import { blockOf } from './evm.ts'
import { NOBODY } from './example-accounts.ts'

const MOST_SLOTS = 10_000
/** The first block of a fresh local chain. */
const GENESIS =
  '0xf901dbf901d6a00000000000000000000000000000000000000000000000000000000000000000a01dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347943333333333333333333333333333333333333333a09c13f6bf26a9d1b13b708b5da083cb8f4e948bb7f903174081ad95810d52723fa056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421b90100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008500000000018083989680808085686f727365800080000000c0c0'

export const debug_traceBlock = method({
  name: 'debug_traceBlock',
  summary:
    'Executes a block given as RLP on its parent and returns the trace of each transaction; an unknown block must be valid.',
  params: { block: Data, options: optional(TraceOptionsObject, {}) },
  result: () => BlockTraces,
  errors: ['invalid-block', 'block-not-found'],
  examples: [{ params: [GENESIS], result: [] }],
  async run({ block, options }, context) {
    const { queries, config } = context.engine
    return traceExecuted(await queries.executed(blockOf(block, config)), options, context)
  },
})

/** The beginning of a hash; missing bytes count as 0. */
const HashStart: Parameter<`0x${string}`> = scalar({
  form: hex({ prefix: 'required', least: 0, most: 64 }),
  description: 'DATA: up to 32 bytes',
  decode: (value) => `0x${value.slice(2).toLowerCase().padEnd(64, '0')}` as const,
  refusal: (_, name) => expected(name, 'up to 32 bytes in hex'),
})

export const debug_storageRangeAt = method({
  name: 'debug_storageRangeAt',
  summary:
    'Storage of a contract after the first transactions of a block: slots by their hashes, starting at a given hash; null when the block is unknown.',
  params: {
    block: LookupBlock,
    transactionIndex: wholeNumber('How many transactions of the block have run', 2 ** 31 - 1),
    address: Address,
    keyStart: HashStart,
    maxResult: wholeNumber('Maximum number of slots', MOST_SLOTS),
  },
  result: () =>
    z
      .strictObject({
        storage: z.record(HashText, z.strictObject({ key: HashText, value: HashText })),
        nextKey: HashText.nullable(),
      })
      .nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: ['0xffffff', 0, NOBODY, '0x', 10], result: null },
    { params: ['latest', 0, NOBODY, '0x', 10], result: { storage: {}, nextKey: null } },
  ],
  async run({ block, transactionIndex, address, keyStart, maxResult }, context) {
    const size = replySize(context)
    size(ITEM_BYTES)
    const range = await context.engine.queries.storageRange({
      block: block.reference,
      index: transactionIndex,
      contract: address,
      start: keyStart,
      count: maxResult,
      timeoutMs: timeLeft(context),
    })
    if (range === undefined) return null
    size(2 * ITEM_BYTES * range.cells.length)
    return {
      storage: Object.fromEntries(
        range.cells.map(({ hash, slot, value }) => [
          hash,
          { key: toFixedHex(slot, 32), value: toFixedHex(value, 32) },
        ]),
      ),
      nextKey: range.next ?? null,
    }
  },
})

/** The methods of this file, in the order of the document. */
export const DEBUG_GETH_METHODS = [debug_traceBlock, debug_storageRangeAt] as const
