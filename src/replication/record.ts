/** A record of the cluster's log as bytes: one batch of the write-ahead log, or the beginning of a term. */
import { crc32 } from 'node:zlib'
import { restoreTransaction, type Transaction } from '../chain/transaction.ts'
import { fromBigInt } from '../encoding/bytes.ts'
import { fromHex, toHex } from '../encoding/hex.ts'
import { asBytes, asList, asNumber, decodeRlp } from '../encoding/rlp.ts'
import { frameStrings } from '../encoding/rlp-frame.ts'
import { decodeOperations, encodeRecord, HEADER_BYTES } from '../store/operation-record.ts'
import { changeOf } from '../store/replicated-tables.ts'
import type { Change } from '../store/table.ts'

/** What the log holds, in order. */
export interface LogRecord {
  readonly term: number
  /** Id of the node that leads in this term. */
  readonly leader: string
  /** Transactions that became runnable since the record before. */
  readonly pooled: readonly Transaction[]
  /** Of the shared tables, all or none; empty in the first record of a term. */
  readonly changes: readonly Change[]
}

/** The bytes of a record. */
export function encodeLogRecord({ term, leader, pooled, changes }: LogRecord): Uint8Array {
  return frameStrings([
    fromBigInt(BigInt(term)),
    new TextEncoder().encode(leader),
    frameStrings(pooled.flatMap(({ raw, from }) => [raw, fromHex(from)])),
    encodeRecord(changes),
  ])
}

/** The record of bytes that `encodeLogRecord` made. */
export function decodeLogRecord(bytes: Uint8Array): LogRecord {
  const [term, leader, pooled, batch] = asList(decodeRlp(bytes), 'log record')
  const pairs = asList(decodeRlp(asBytes(pooled, 'pooled transactions')), 'pooled transactions')
  const transactions: Transaction[] = []
  for (let i = 0; i < pairs.length; i += 2) {
    const from = toHex(asBytes(pairs[i + 1], 'sender'))
    transactions.push(restoreTransaction(asBytes(pairs[i], 'transaction'), from))
  }
  const operations = decodeOperations(Buffer.from(asBytes(batch, 'batch')).subarray(HEADER_BYTES))
  return {
    term: asNumber(term, 'term'),
    leader: new TextDecoder().decode(asBytes(leader, 'leader')),
    pooled: transactions,
    changes: operations.map(changeOf),
  }
}

/** In front of each chunk: its index and the number of chunks (4 bytes each), and the CRC-32 of them all (4 bytes). */
const CHUNK_HEADER_BYTES = 12

/** Splits bytes into messages of at most `limit` bytes; at least one. */
export function splitIntoChunks(bytes: Uint8Array, limit: number): Uint8Array[] {
  const size = limit - CHUNK_HEADER_BYTES
  const count = Math.max(1, Math.ceil(bytes.length / size))
  const checksum = crc32(bytes)
  return Array.from({ length: count }, (_, index) => {
    const part = bytes.subarray(index * size, (index + 1) * size)
    const chunk = Buffer.allocUnsafe(CHUNK_HEADER_BYTES + part.length)
    chunk.writeUInt32LE(index, 0)
    chunk.writeUInt32LE(count, 4)
    chunk.writeUInt32LE(checksum, 8)
    chunk.set(part, CHUNK_HEADER_BYTES)
    return chunk
  })
}

/** Most bytes of all chunks together: more than any record or request has. */
const MOST_BYTES = 1 << 29

/** Joins the chunks of a message. */
export interface ChunkReader {
  /** The bytes of the message with its last chunk, `undefined` before. Throws for what is not a chunk. */
  read(chunk: Uint8Array): Uint8Array | undefined
}

/** Reads chunks in order. Those of an incomplete message are dropped when another one begins: its writer has ended. */
export function createChunkReader(): ChunkReader {
  let parts: Uint8Array[] = []
  let expected = -1
  let length = 0
  return {
    read(chunk) {
      if (chunk.length < CHUNK_HEADER_BYTES) throw new Error('a chunk of the cluster has no header')
      const header = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      const [index, count, checksum] = [
        header.readUInt32LE(0),
        header.readUInt32LE(4),
        header.readUInt32LE(8),
      ]
      if (index >= count) throw new Error('a chunk of the cluster is behind its last one')
      if (index === 0) {
        parts = []
        length = 0
        expected = checksum
      } else if (index !== parts.length || checksum !== expected) {
        parts = []
        expected = -1
        return undefined
      }
      length += chunk.length - CHUNK_HEADER_BYTES
      if (length > MOST_BYTES) {
        parts = []
        expected = -1
        throw new Error('a message of the cluster is too long')
      }
      parts.push(chunk.subarray(CHUNK_HEADER_BYTES))
      if (parts.length < count) return undefined
      const bytes = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
      parts = []
      expected = -1
      if (crc32(bytes) !== checksum) throw new Error('a record of the cluster is damaged')
      return bytes
    },
  }
}
