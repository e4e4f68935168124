/** Operations as bytes, and one record of them with its length and checksum in front. */
import { crc32 } from 'node:zlib'
import type { Operation } from './table.ts'

/** Length of the operations and their CRC-32, each 4 bytes, in front of a record. */
export const HEADER_BYTES = 8
/** In front of a key and of a value: its length, 4 bytes. A value of this length is a deletion. */
const LENGTH_BYTES = 4
const DELETED = 0xffff_ffff

/** Bytes that an operation takes. */
export function sizeOfOperation(operation: Operation): number {
  return 2 * LENGTH_BYTES + operation.key.length + (operation.type === 'put' ? operation.value.length : 0)
}

/** Writes an operation at a position; the result is where it ends. */
export function writeOperation(operation: Operation, bytes: Buffer, position: number): number {
  const { key } = operation
  let at = bytes.writeUInt32LE(key.length, position)
  bytes.set(key, at)
  at += key.length
  if (operation.type === 'del') return bytes.writeUInt32LE(DELETED, at)
  at = bytes.writeUInt32LE(operation.value.length, at)
  bytes.set(operation.value, at)
  return at + operation.value.length
}

/** The operations of bytes that hold nothing else, copied. Throws a `RangeError` when the bytes end within one. */
export function decodeOperations(bytes: Buffer): Operation[] {
  const operations: Operation[] = []
  for (let at = 0; at < bytes.length; ) {
    const keyEnd = at + LENGTH_BYTES + bytes.readUInt32LE(at)
    const key = new Uint8Array(bytes.subarray(at + LENGTH_BYTES, keyEnd))
    const length = bytes.readUInt32LE(keyEnd)
    at = keyEnd + LENGTH_BYTES
    if (length === DELETED) {
      operations.push({ type: 'del', key })
      continue
    }
    operations.push({ type: 'put', key, value: new Uint8Array(bytes.subarray(at, at + length)) })
    at += length
  }
  return operations
}

/** Operations as one record: header, then operations. */
export function encodeRecord(operations: readonly Operation[]): Buffer {
  let size = HEADER_BYTES
  for (const operation of operations) size += sizeOfOperation(operation)
  const record = Buffer.allocUnsafe(size)
  let at = HEADER_BYTES
  for (const operation of operations) at = writeOperation(operation, record, at)
  record.writeUInt32LE(size - HEADER_BYTES, 0)
  record.writeUInt32LE(crc32(record.subarray(HEADER_BYTES)), 4)
  return record
}
