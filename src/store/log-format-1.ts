/** The write-ahead log of databases of format 5: files of records without headers or sequences. It is only read. */
import { crc32 } from 'node:zlib'
import { type Files, readWhole } from './files.ts'
import { decodeOperations, HEADER_BYTES } from './operation-record.ts'
import type { Operation } from './table.ts'

/** A record in a file: its body, `undefined` when the checksum is another; where it ends. `undefined` when it is cut off. */
function recordAt(
  bytes: Buffer,
  at: number,
): { readonly body: Buffer | undefined; readonly end: number } | undefined {
  if (at + HEADER_BYTES > bytes.length) return undefined
  const end = at + HEADER_BYTES + bytes.readUInt32LE(at)
  if (end > bytes.length) return undefined
  const body = bytes.subarray(at + HEADER_BYTES, end)
  return { body: crc32(body) === bytes.readUInt32LE(at + 4) ? body : undefined, end }
}

/**
 * Where the whole records of a file end, and how: with the last one, within the next, or with a whole record after a
 * damaged one.
 */
export function surveyOldSegment(
  files: Files,
  path: string,
): { readonly size: number; readonly whole: number; readonly end: 'whole' | 'cut off' | 'damaged' } {
  const bytes = readWhole(files, path)
  let at = 0
  for (;;) {
    const record = recordAt(bytes, at)
    if (record?.body === undefined) {
      // A crash of the machine can leave zeros, which are a record of length 0.
      const next = record === undefined ? undefined : recordAt(bytes, record.end)?.body
      const isFollowed = next !== undefined && next.length > 0
      const end = at === bytes.length ? 'whole' : isFollowed ? 'damaged' : 'cut off'
      return { size: bytes.length, whole: at, end }
    }
    at = record.end
  }
}

/** The batches of a file up to a position. */
export function* readOldSegment(files: Files, path: string, whole: number): Generator<Operation[]> {
  const bytes = readWhole(files, path)
  for (let at = 0; at < whole; ) {
    const record = recordAt(bytes, at)
    if (record?.body === undefined) throw new Error(`${path} has changed while it was read`)
    yield decodeOperations(record.body)
    at = record.end
  }
}
