/** Receipts and logs: their fields, their RLP, and the root that a header commits to. */
import { binaryTrieRoot, orchidListRoot } from '../encoding/binary-trie.ts'
import { EMPTY, fromBigInt } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { asBigInt, asBytes, asList, decodeRlp, type RlpItem } from '../encoding/rlp.ts'
import { frameList, frameString, frameStrings } from '../encoding/rlp-frame.ts'
import { type Rules, UNIFIED } from './activations.ts'

/** One event. */
export interface Log {
  readonly address: Hex
  /** 0 to 4 words of 32 bytes. */
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** What one transaction did (docs/protocol.md#55-receipts). */
export interface Receipt {
  readonly succeeded: boolean
  /** Gas of the block, up to and including this transaction. */
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
}

const SUCCEEDED = Uint8Array.of(1)
const NO_ITEMS = frameList([])

function encodeLog({ address, topics, data }: Log): Uint8Array {
  return frameList([frameString(fromHex(address)), frameStrings(topics.map(fromHex)), frameString(data)])
}

/** A receipt's bytes are wanted for its block's root and again for the disk. */
const encoded = new WeakMap<Receipt, Uint8Array>()

/**
 * RLP of the six items of a receipt; the status stands first and last (docs/protocol.md#55-receipts). The
 * same array each time.
 */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const known = encoded.get(receipt)
  if (known !== undefined) return known
  const bytes = encode(receipt)
  encoded.set(receipt, bytes)
  return bytes
}

function encode(receipt: Receipt): Uint8Array {
  const status = frameString(receipt.succeeded ? SUCCEEDED : EMPTY)
  return frameList([
    status,
    frameString(fromBigInt(receipt.cumulativeGasUsed)),
    frameString(receipt.logsBloom),
    receipt.logs.length === 0 ? NO_ITEMS : frameList(receipt.logs.map(encodeLog)),
    frameString(fromBigInt(receipt.gasUsed)),
    status,
  ])
}

function decodeLog(item: RlpItem): Log {
  const [address, topics, data] = asList(item, 'log')
  return {
    address: toHex(asBytes(address, 'log address')),
    topics: asList(topics, 'log topics').map((topic) => toHex(asBytes(topic, 'log topic'))),
    data: asBytes(data, 'log data'),
  }
}

/** Reads what `encodeReceipt` writes. Throws a RangeError or an Error when the bytes are not a receipt. */
export function decodeReceipt(bytes: Uint8Array): Receipt {
  const list = asList(decodeRlp(bytes), 'receipt')
  if (list.length !== 6) throw new RangeError(`a receipt has 6 items, not ${list.length}`)
  const [, cumulativeGasUsed, logsBloom, logs, gasUsed, status] = list
  return {
    succeeded: asBytes(status, 'status').length > 0,
    cumulativeGasUsed: asBigInt(cumulativeGasUsed, 'cumulative gas used'),
    gasUsed: asBigInt(gasUsed, 'gas used'),
    logsBloom: asBytes(logsBloom, 'logs bloom'),
    logs: asList(logs, 'logs').map(decodeLog),
  }
}

/**
 * Root of the receipts of a block, in order (docs/protocol.md#55-receipts), in the format of the block's height
 * (RSKIP-126).
 */
export function receiptsRoot(
  receipts: readonly Receipt[],
  { unifiedTrie }: Pick<Rules, 'unifiedTrie'> = UNIFIED,
): Hex {
  const values = receipts.map(encodeReceipt)
  return unifiedTrie ? binaryTrieRoot(values) : orchidListRoot(values)
}
