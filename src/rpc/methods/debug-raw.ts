/** Blocks, headers, receipts and transactions as the chain encodes them (docs/internals/protocol.md#14-encodings). */
import { z } from 'zod'
import { encodeBlock } from '../../chain/block.ts'
import { encodeHeader } from '../../chain/header.ts'
import { encodeReceipt } from '../../chain/receipt.ts'
import { toHex } from '../../encoding/hex.ts'
import { blockAt } from '../block-lookup.ts'
import { method } from '../method.ts'
import { writtenHex } from '../raw-json.ts'
import { LookupBlock } from '../wire/block-reference.ts'
import { DataText, TransactionHash } from '../wire/scalars.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

export const debug_getRawBlock = method({
  name: 'debug_getRawBlock',
  summary: 'RLP of a block: header in full, transactions, uncle headers.',
  params: { block: LookupBlock },
  result: () => DataText,
  errors: ['block-not-found'],
  examples: [
    {
      params: ['earliest'],
      result:
        '0xf901dbf901d6a00000000000000000000000000000000000000000000000000000000000000000a01dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347943333333333333333333333333333333333333333a09c13f6bf26a9d1b13b708b5da083cb8f4e948bb7f903174081ad95810d52723fa056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421b90100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008500000000018083989680808085686f727365800080000000c0c0',
    },
  ],
  async run({ block }, { engine }) {
    return writtenHex(encodeBlock((await blockAt(block, engine)).executed.block, engine.config))
  },
})

export const debug_getRawHeader = method({
  name: 'debug_getRawHeader',
  summary: 'RLP of the full header of a block, proof of work included.',
  params: { block: LookupBlock },
  result: () => DataText,
  errors: ['block-not-found'],
  examples: [
    {
      params: ['earliest'],
      result:
        '0xf901d6a00000000000000000000000000000000000000000000000000000000000000000a01dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347943333333333333333333333333333333333333333a09c13f6bf26a9d1b13b708b5da083cb8f4e948bb7f903174081ad95810d52723fa056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421b90100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008500000000018083989680808085686f727365800080000000',
    },
  ],
  async run({ block }, { engine }) {
    const { header } = (await blockAt(block, engine)).executed.block
    return toHex(encodeHeader(header, 'full', engine.config.rulesAt(header.number)))
  },
})

export const debug_getRawReceipts = method({
  name: 'debug_getRawReceipts',
  summary: 'RLP of each receipt of a block.',
  params: { block: LookupBlock },
  result: () => z.array(DataText),
  errors: ['block-not-found'],
  examples: [{ params: ['earliest'], result: [] }],
  async run({ block }, { engine }) {
    const { executed } = await blockAt(block, engine)
    return executed.receipts.map((receipt) => toHex(encodeReceipt(receipt)))
  },
})

export const debug_getRawTransaction = method({
  name: 'debug_getRawTransaction',
  summary: 'RLP of a transaction of the canonical chain or of a runnable one in the pool; null when unknown.',
  params: { transactionHash: TransactionHash },
  result: () => DataText.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run({ transactionHash }, { engine }) {
    const view = engine.queries.transaction(transactionHash)
    return view === undefined ? null : toHex(view.transaction.raw)
  },
})

export const debug_getRawTransactions = method({
  name: 'debug_getRawTransactions',
  summary: 'RLP of each transaction of a block, the REMASC transaction included; empty for an unknown block.',
  params: { block: LookupBlock },
  result: () => z.array(DataText),
  examples: [{ params: ['0xffffff'], result: [] }],
  async run({ block }, { engine }) {
    const view = await engine.queries.block(block.reference)
    return view?.executed.block.transactions.map(({ raw }) => toHex(raw)) ?? []
  },
})

/** The methods of this file, in the order of the document. */
export const DEBUG_RAW_METHODS = [
  debug_getRawBlock,
  debug_getRawHeader,
  debug_getRawReceipts,
  debug_getRawTransaction,
  debug_getRawTransactions,
] as const
