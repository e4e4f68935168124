/**
 * Raw data of the chain for bridges and light clients (docs/internals/rpc-reference.md#79-raw-chain-data); each method
 * has an `rsk_` name as well.
 */

import { z } from 'zod'
import { encodeHeader } from '../../chain/header.ts'
import { encodeReceipt } from '../../chain/receipt.ts'
import { binaryTrieProof } from '../../encoding/binary-trie.ts'
import { type Hex, lowerCaseHex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { BlockReference } from '../../engine/model.ts'
import { cellBytes } from '../../state/state-keys.ts'
import { stateAt } from '../block-lookup.ts'
import { anyOf, DIGITS } from '../json-forms.ts'
import { method } from '../method.ts'
import { type Parameter, scalar } from '../parameter.ts'
import { HeaderBlock, StateBlock } from '../wire/block-reference.ts'
import {
  Address,
  BlockHash,
  DataText,
  HEX_DIGITS,
  QuantityText,
  StoragePosition,
  TransactionHash,
} from '../wire/scalars.ts'
import { PROTOCOL_VERSION } from './eth/client.ts'
import { NOBODY } from './example-accounts.ts'

/** Characters of a hash with `0x`. */
const HASH_LENGTH = 66
const UNKNOWN = `0x${'9'.repeat(64)}`
/** A transaction's hash, or any other hex, which no transaction has. */
const AnyHash: Parameter<Hex> = scalar({
  form: anyOf(HEX_DIGITS, DIGITS),
  description: 'HASH: 32 bytes in hex',
  decode(value): Hex {
    const hash = lowerCaseHex(String(value))
    return hash.length === 65 ? `0x0${hash.slice(2)}` : hash
  },
  refusal: (value, name) =>
    value === null ? `${name} is null` : 'Invalid transaction hash format: invalid hex value',
})

async function rawHeader(reference: BlockReference, { queries, config }: Engine): Promise<Hex | null> {
  const view = await queries.block(reference)
  if (view === undefined) return null
  const { header } = view.executed.block
  return toHex(encodeHeader(header, 'raw', config.rulesAt(header.number)))
}

export const ext_getRawBlockHeaderByHash = method({
  name: 'ext_getRawBlockHeaderByHash',
  hosted: true,
  aliases: ['rsk_getRawBlockHeaderByHash'],
  summary:
    'RLP of the header of a block by its hash, with parent-chain header, without coinbase and merkle proof; null when unknown.',
  params: { blockHash: BlockHash },
  result: () => DataText.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run: ({ blockHash }, { engine }) => rawHeader({ hash: blockHash }, engine),
})

export const ext_getRawBlockHeaderByNumber = method({
  name: 'ext_getRawBlockHeaderByNumber',
  hosted: true,
  aliases: ['rsk_getRawBlockHeaderByNumber'],
  summary: 'RLP of the header of a block by number, tag or hash; null when there is no such block.',
  params: { block: HeaderBlock },
  result: () => DataText.nullable(),
  examples: [{ params: ['0xffffff'], result: null }],
  run: ({ block }, { engine }) => rawHeader(block.reference, engine),
})

export const ext_getRawTransactionReceiptByHash = method({
  name: 'ext_getRawTransactionReceiptByHash',
  hosted: true,
  aliases: ['rsk_getRawTransactionReceiptByHash'],
  summary: 'RLP of the receipt of a transaction of the canonical chain; null when there is none.',
  params: { transactionHash: AnyHash },
  result: () => DataText.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run({ transactionHash }, { engine }) {
    if (transactionHash.length !== HASH_LENGTH) return null
    const view = engine.queries.receipt(transactionHash)
    return view === undefined ? null : toHex(encodeReceipt(view.receipt))
  },
})

export const ext_getTransactionReceiptNodesByHash = method({
  name: 'ext_getTransactionReceiptNodesByHash',
  hosted: true,
  aliases: ['rsk_getTransactionReceiptNodesByHash'],
  summary:
    "Nodes of the receipts trie that prove a transaction's receipt, leaf first, root last; null when the block does not hold it.",
  params: { blockHash: BlockHash, transactionHash: TransactionHash },
  result: () => z.array(DataText).nullable(),
  examples: [{ params: [UNKNOWN, UNKNOWN], result: null }],
  async run({ blockHash, transactionHash }, { engine }) {
    const view = await engine.queries.block({ hash: blockHash })
    if (view === undefined) return null
    const { block, receipts } = view.executed
    const index = block.transactions.findIndex(({ hash }) => hash === transactionHash)
    return index < 0 ? null : binaryTrieProof(receipts.map(encodeReceipt), index).map(toHex)
  },
})

export const ext_protocolVersion = method({
  name: 'ext_protocolVersion',
  hosted: true,
  aliases: ['rsk_protocolVersion'],
  summary: "Version of the chain's wire protocol.",
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x3e' }],
  run: () => toQuantity(PROTOCOL_VERSION),
})

export const ext_getStorageBytesAt = method({
  name: 'ext_getStorageBytesAt',
  aliases: ['rsk_getStorageBytesAt'],
  summary:
    'The bytes of a storage cell of an account at a block: a word without leading zeros, or what a precompiled contract stored, of any length; `0x0` when it is empty.',
  params: { address: Address, position: StoragePosition, block: StateBlock },
  result: () => z.union([DataText, z.literal('0x0')]),
  errors: ['block-not-found'],
  examples: [{ params: [NOBODY, '0x0', 'latest'], result: '0x0' }],
  async run({ address, position, block }, { engine }) {
    const state = await stateAt(block, engine)
    const bytes = cellBytes(state.cell(address, position))
    return bytes.length === 0 ? '0x0' : toHex(bytes)
  },
})

/** The methods of this file, in the order of the document. */
export const EXT_METHODS = [
  ext_getRawBlockHeaderByHash,
  ext_getRawBlockHeaderByNumber,
  ext_getRawTransactionReceiptByHash,
  ext_getTransactionReceiptNodesByHash,
  ext_protocolVersion,
  ext_getStorageBytesAt,
] as const
