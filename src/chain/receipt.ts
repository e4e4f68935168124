/** Receipts and logs: their fields, their RLP, and the root that a header commits to. */
import { binaryTrieRoot, orchidListRoot } from '../encoding/binary-trie.ts'
import { concat, EMPTY, fromBigInt, oneByte, roomFor } from '../encoding/bytes.ts'
import { type Hex, sliceHex, toHex, writeHex } from '../encoding/hex.ts'
import { asBigInt, asBytes, asList, decodeRlp, type RlpItem } from '../encoding/rlp.ts'
import {
  framedLength,
  frameString,
  itemEnd,
  LIST,
  payloadStart,
  STRING,
  stringLength,
  writePrefix,
  writeString,
} from '../encoding/rlp-frame.ts'
import { ADDRESS_BYTES } from './account.ts'
import { type Rules, UNIFIED } from './activations.ts'
import { isNamespaced, prefixLength, readType, TYPE, typePrefix } from './transaction-types.ts'

/** One event. */
export interface Log {
  readonly address: Hex
  /** 0 to 4 words of 32 bytes. */
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** What one transaction did (docs/internals/protocol.md#55-receipts). */
export interface Receipt {
  readonly succeeded: boolean
  /** Gas of the block, up to and including this transaction. */
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
  /** That of the transaction (`transaction-types.ts`). */
  readonly type: number
}

const TOPIC_BYTES = 32

/** Payload lengths of a log's topics and of the log. */
function logLengths({ topics, data }: Log): { readonly topics: number; readonly log: number } {
  const length = topics.length * framedLength(TOPIC_BYTES)
  return { topics: length, log: framedLength(ADDRESS_BYTES) + framedLength(length) + stringLength(data) }
}

/** Writes bytes of hex text as a string at `at`; the result is where it ends. */
function writeHexString(out: Uint8Array, at: number, hex: Hex, length: number): number {
  const start = writePrefix(out, at, STRING, length)
  writeHex(out, start, hex)
  return start + length
}

function writeLog(out: Uint8Array, at: number, log: Log): number {
  const lengths = logLengths(log)
  let next = writePrefix(out, at, LIST, lengths.log)
  next = writeHexString(out, next, log.address, ADDRESS_BYTES)
  next = writePrefix(out, next, LIST, lengths.topics)
  for (const topic of log.topics) next = writeHexString(out, next, topic, TOPIC_BYTES)
  return writeString(out, next, log.data)
}

/** Encoded receipts of a block, which are needed twice: for its root and for the disk. */
const encodedOnce = new WeakMap<readonly Receipt[], readonly Uint8Array[]>()

/** The bytes of each receipt of a block, whose list does not change any more. */
export function encodeReceipts(receipts: readonly Receipt[]): readonly Uint8Array[] {
  const known = encodedOnce.get(receipts)
  if (known !== undefined) {
    encodedOnce.delete(receipts)
    return known
  }
  const encoded = receipts.map(encodeReceipt)
  encodedOnce.set(receipts, encoded)
  return encoded
}

/** Has the receipt of this type Ethereum's four items? Legacy ones and those of the chain's namespace have six. */
function isEthereumReceipt(type: number): boolean {
  return type !== TYPE.legacy && !isNamespaced(type)
}

/**
 * The bytes of a receipt: behind the prefix of its type the RLP of six items, of which the status stands first and last, or
 * of Ethereum's four, without the gas used (RSKIP-546, docs/internals/protocol.md#55-receipts). Written into one array:
 * every block logs several payouts, and joining the parts of a log takes longer than encoding it.
 */
export function encodeReceipt({
  succeeded,
  cumulativeGasUsed,
  gasUsed,
  logsBloom,
  logs,
  type,
}: Receipt): Uint8Array {
  const status = succeeded ? oneByte(1) : EMPTY
  const [cumulative, own] = [fromBigInt(cumulativeGasUsed), fromBigInt(gasUsed)]
  let logsLength = 0
  for (const log of logs) logsLength += framedLength(logLengths(log).log)
  const isShort = isEthereumReceipt(type)
  const tail = isShort ? 0 : stringLength(own) + stringLength(status)
  const strings = stringLength(status) + stringLength(cumulative) + stringLength(logsBloom) + tail
  const length = strings + framedLength(logsLength)
  const prefix = typePrefix(type)
  const out = roomFor(prefix.length + framedLength(length))
  out.set(prefix)
  let at = writePrefix(out, prefix.length, LIST, length)
  at = writeString(out, at, status)
  at = writeString(out, at, cumulative)
  at = writeString(out, at, logsBloom)
  at = writePrefix(out, at, LIST, logsLength)
  for (const log of logs) at = writeLog(out, at, log)
  if (isShort) return out
  at = writeString(out, at, own)
  writeString(out, at, status)
  return out
}

/** The bytes that are stored: Ethereum's receipts have no gasUsed, which is appended. */
function storedForm({ type, gasUsed }: Receipt, encoded: Uint8Array): Uint8Array {
  return isEthereumReceipt(type) ? concat(encoded, frameString(fromBigInt(gasUsed))) : encoded
}

/** `encodeStoredReceipt` of each receipt of a block, whose list does not change any more. */
export function encodeStoredReceipts(receipts: readonly Receipt[]): readonly Uint8Array[] {
  const encoded = encodeReceipts(receipts)
  if (receipts.every(({ type }) => !isEthereumReceipt(type))) return encoded
  return receipts.map((receipt, index) => storedForm(receipt, encoded[index] ?? EMPTY))
}

/** The bytes of a receipt that hold all of it, for the disk and for files. */
export function encodeStoredReceipt(receipt: Receipt): Uint8Array {
  return storedForm(receipt, encodeReceipt(receipt))
}

function decodeLog(item: RlpItem): Log {
  const [address, topics, data] = asList(item, 'log')
  return {
    address: toHex(asBytes(address, 'log address')),
    topics: asList(topics, 'log topics').map((topic) => toHex(asBytes(topic, 'log topic'))),
    data: asBytes(data, 'log data'),
  }
}

/** A log that decodes its parts on first use: of most logs, a query compares only the address. */
class EncodedLog implements Log {
  readonly #bytes: Uint8Array
  /** Where its address begins, with the prefix. */
  readonly #at: number
  #address: Hex | undefined
  #topics: readonly Hex[] | undefined

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = payloadStart(bytes, at)
  }

  get address(): Hex {
    this.#address ??= hexAt(this.#bytes, this.#at)
    return this.#address
  }

  get topics(): readonly Hex[] {
    if (this.#topics !== undefined) return this.#topics
    const topics: Hex[] = []
    const list = itemEnd(this.#bytes, this.#at)
    const end = itemEnd(this.#bytes, list)
    for (let at = payloadStart(this.#bytes, list); at < end; at = itemEnd(this.#bytes, at)) {
      topics.push(hexAt(this.#bytes, at))
    }
    this.#topics = topics
    return topics
  }

  get data(): Uint8Array {
    const at = itemEnd(this.#bytes, itemEnd(this.#bytes, this.#at))
    return this.#bytes.subarray(payloadStart(this.#bytes, at), itemEnd(this.#bytes, at))
  }
}

function hexAt(bytes: Uint8Array, at: number): Hex {
  return sliceHex(bytes, payloadStart(bytes, at), itemEnd(bytes, at))
}

/** Number of elements before the logs: status, cumulative gas and bloom. */
const BEFORE_LOGS = 3

/**
 * The logs of the receipt that `encodeStoredReceipt` wrote at `start`, as views into `bytes`. Throws a RangeError when the
 * bytes are too short; they are not checked further.
 */
export function readLogs(bytes: Uint8Array, start: number): readonly Log[] {
  let at = payloadStart(bytes, start + prefixLength(receiptType(bytes, start)))
  for (let i = 0; i < BEFORE_LOGS; i++) at = itemEnd(bytes, at)
  const end = itemEnd(bytes, at)
  if (!(end <= bytes.length)) throw new RangeError('a receipt ends before its logs')
  const logs: Log[] = []
  for (let next = payloadStart(bytes, at); next < end; next = itemEnd(bytes, next)) {
    logs.push(new EncodedLog(bytes, next))
  }
  return logs
}

/** The type of the receipt at `start`. */
function receiptType(bytes: Uint8Array, start: number): number {
  return (bytes[start] ?? LIST) < STRING ? readType(bytes.subarray(start, start + 2)) : TYPE.legacy
}

/** What the bytes of a receipt hold: not the gas used of one with four items. */
export type EncodedReceipt = Omit<Receipt, 'gasUsed'> & { readonly gasUsed: bigint | undefined }

/** Reads what `encodeReceipt` writes. Throws a RangeError or an Error when the bytes are not a receipt. */
export function decodeReceipt(bytes: Uint8Array): EncodedReceipt {
  const type = receiptType(bytes, 0)
  const list = asList(decodeRlp(bytes.subarray(prefixLength(type))), 'receipt')
  const items = isEthereumReceipt(type) ? 4 : 6
  if (list.length !== items) throw new RangeError(`a receipt has ${items} items, not ${list.length}`)
  const [first, cumulativeGasUsed, logsBloom, logs, gasUsed, last = first] = list
  return {
    succeeded: asBytes(last, 'status').length > 0,
    cumulativeGasUsed: asBigInt(cumulativeGasUsed, 'cumulative gas used'),
    gasUsed: gasUsed === undefined ? undefined : asBigInt(gasUsed, 'gas used'),
    logsBloom: asBytes(logsBloom, 'logs bloom'),
    logs: asList(logs, 'logs').map(decodeLog),
    type,
  }
}

/** Reads what `encodeStoredReceipt` writes. Throws a RangeError or an Error when the bytes are not that. */
export function decodeStoredReceipt(bytes: Uint8Array): Receipt {
  const type = receiptType(bytes, 0)
  const end = isEthereumReceipt(type) ? itemEnd(bytes, prefixLength(type)) : bytes.length
  const { succeeded, cumulativeGasUsed, gasUsed, logsBloom, logs } = decodeReceipt(bytes.subarray(0, end))
  return {
    succeeded,
    cumulativeGasUsed,
    gasUsed: gasUsed ?? asBigInt(decodeRlp(bytes.subarray(end)), 'gas used'),
    logsBloom,
    logs,
    type,
  }
}

/**
 * Root of the receipts of a block, in order (docs/internals/protocol.md#55-receipts), in the format of the block's height
 * (RSKIP-126).
 */
export function receiptsRoot(
  receipts: readonly Receipt[],
  { unifiedTrie }: Pick<Rules, 'unifiedTrie'> = UNIFIED,
): Hex {
  const values = encodeReceipts(receipts)
  return unifiedTrie ? binaryTrieRoot(values) : orchidListRoot(values)
}
