/**
 * The files of the cache: a head that names the block and who answered, then frames of records, each with a checksum that
 * covers both too. A file is written by one process, by appending; what follows the last whole frame is ignored.
 */
import { createHash } from 'node:crypto'
import type { Account } from '../../../chain/account.ts'
import { concat, equal, fromBigInt, fromBigIntFixed, oneByte, toBigInt } from '../../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../encoding/hex.ts'
import { frameStrings, readFlatStrings } from '../../../encoding/rlp-frame.ts'
import { cellBytes, type StorageValue, storageValue } from '../../state-keys.ts'

/** Was it shown by a proof against the state root of a header whose hash was checked? */
interface Provable {
  readonly isProven: boolean
}

/** Something that the upstream answered about a block. */
export type CacheRecord =
  | (Provable & { readonly kind: 'account'; readonly address: Hex; readonly account: Account | undefined })
  | (Provable & {
      readonly kind: 'cell'
      readonly address: Hex
      readonly slot: bigint
      readonly value: StorageValue
    })
  | { readonly kind: 'code'; readonly code: Uint8Array }
  /** The result of a call, JSON, by method and parameters. */
  | { readonly kind: 'answer'; readonly key: string; readonly value: unknown }

const MAGIC = Buffer.from('tandem fork cache 2\n')
const SCOPE_BYTES = 16
const HEAD_BYTES = MAGIC.length + 32 + SCOPE_BYTES
const CHECKSUM_BYTES = 8
/** Length and checksum. */
const FRAME_HEAD_BYTES = 4 + CHECKSUM_BYTES

const TAG = { account: 1, noAccount: 2, cell: 3, code: 4, answer: 5 } as const

/** What a file is about: a block, as the URLs of one scope have it (`cacheScope`). */
export interface FileSubject {
  readonly hash: Hex
  /** 16 bytes in hex, without prefix. */
  readonly scope: string
}

function subjectBytes({ hash, scope }: FileSubject): Uint8Array {
  return concat(fromHex(hash), Buffer.from(scope, 'hex'))
}

function checksum(scope: Uint8Array, payload: Uint8Array): Uint8Array {
  return createHash('sha256').update(scope).update(payload).digest().subarray(0, CHECKSUM_BYTES)
}

/** Flags of an account: the amount is of a balance below zero, as the Bridge's can be. */
const IS_CONTRACT = 1
const IS_NEGATIVE = 2

/** Ends a record that was proven. */
const PROVEN = oneByte(1)
const isProvenMark = (item: Uint8Array | undefined): boolean => item?.[0] === 1

/** A tag and byte strings. */
function encodeRecord(record: CacheRecord): Uint8Array {
  const of = (tag: number, ...items: Uint8Array[]) => frameStrings([oneByte(tag), ...items])
  switch (record.kind) {
    case 'account': {
      const { address, account } = record
      const mark = record.isProven ? [PROVEN] : []
      if (account === undefined) return of(TAG.noAccount, fromHex(address), ...mark)
      const { nonce, balance, codeHash, isContract } = account
      const marker = oneByte((isContract ? IS_CONTRACT : 0) | (balance < 0n ? IS_NEGATIVE : 0))
      return of(
        TAG.account,
        fromHex(address),
        fromBigInt(nonce),
        fromBigInt(balance < 0n ? -balance : balance),
        fromHex(codeHash),
        marker,
        ...mark,
      )
    }
    case 'cell':
      return of(
        TAG.cell,
        fromHex(record.address),
        fromBigIntFixed(record.slot, 32),
        cellBytes(record.value),
        ...(record.isProven ? [PROVEN] : []),
      )
    case 'code':
      return of(TAG.code, record.code)
    case 'answer':
      return of(TAG.answer, Buffer.from(record.key), Buffer.from(JSON.stringify(record.value)))
  }
}

/** `undefined`: a record of another form, which a frame with a valid checksum does not have. */
function decodeRecord(bytes: Uint8Array): CacheRecord | undefined {
  const [tag, ...items] = readFlatStrings(bytes) ?? []
  const [first, second, third, fourth, fifth, sixth] = items
  if (tag === undefined || first === undefined) return undefined
  if (tag[0] === TAG.noAccount) {
    return { kind: 'account', address: toHex(first), account: undefined, isProven: isProvenMark(second) }
  }
  if (tag[0] === TAG.code) return { kind: 'code', code: first.slice() }
  if (second === undefined) return undefined
  if (tag[0] === TAG.answer) {
    const text = (part: Uint8Array) => Buffer.from(part).toString('utf8')
    return { kind: 'answer', key: text(first), value: JSON.parse(text(second)) }
  }
  if (third === undefined) return undefined
  if (tag[0] === TAG.cell) {
    const value = storageValue(third.slice())
    const isProven = isProvenMark(fourth)
    return { kind: 'cell', address: toHex(first), slot: toBigInt(second), value, isProven }
  }
  if (tag[0] !== TAG.account || fourth === undefined || fifth === undefined) return undefined
  const [flags = 0] = fifth
  const amount = toBigInt(third)
  const account: Account = {
    nonce: toBigInt(second),
    balance: (flags & IS_NEGATIVE) === 0 ? amount : -amount,
    codeHash: toHex(fourth),
    isContract: (flags & IS_CONTRACT) !== 0,
  }
  return { kind: 'account', address: toHex(first), account, isProven: isProvenMark(sixth) }
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The beginning of a file. */
export function fileHead(subject: FileSubject): Uint8Array {
  return concat(MAGIC, subjectBytes(subject))
}

/** Records as one frame. */
export function encodeFrame(subject: FileSubject, records: readonly CacheRecord[]): Uint8Array {
  const parts = records.flatMap((record) => {
    const bytes = encodeRecord(record)
    return [uint32(bytes.length), bytes]
  })
  const payload = concat(...parts)
  return concat(uint32(payload.length), checksum(subjectBytes(subject), payload), payload)
}

/** What is in a file, and whether all of it could be read. */
export interface FileContent {
  readonly records: readonly CacheRecord[]
  /** `torn`: it ends within a frame, as the file of a process that writes or was killed. */
  readonly state: 'whole' | 'torn' | 'corrupt' | 'foreign'
}

function recordsIn(payload: Uint8Array): CacheRecord[] | undefined {
  const view = Buffer.from(payload.buffer, payload.byteOffset, payload.length)
  const records: CacheRecord[] = []
  for (let at = 0; at < payload.length; ) {
    const start = at + 4
    if (start > payload.length) return undefined
    at = start + view.readUInt32BE(start - 4)
    if (at > payload.length) return undefined
    const record = decodeRecord(payload.subarray(start, at))
    if (record === undefined) return undefined
    records.push(record)
  }
  return records
}

/** Reads a file; records of frames whose checksum fails are left out, and what follows them. */
export function readFileContent(file: Uint8Array, subject: FileSubject): FileContent {
  // Of a Buffer, slices would be views that keep the whole file in memory.
  const bytes = new Uint8Array(file.buffer, file.byteOffset, file.length)
  if (bytes.length < HEAD_BYTES) return { records: [], state: 'torn' }
  if (!equal(bytes.subarray(0, HEAD_BYTES), fileHead(subject))) return { records: [], state: 'foreign' }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const scope = subjectBytes(subject)
  const records: CacheRecord[] = []
  for (let at = HEAD_BYTES; at < bytes.length; ) {
    const start = at + FRAME_HEAD_BYTES
    if (start > bytes.length) return { records, state: 'torn' }
    const end = start + view.readUInt32BE(at)
    if (end > bytes.length) return { records, state: 'torn' }
    const payload = bytes.subarray(start, end)
    if (!equal(bytes.subarray(at + 4, start), checksum(scope, payload))) return { records, state: 'corrupt' }
    const own = recordsIn(payload)
    if (own === undefined) return { records, state: 'corrupt' }
    for (const record of own) records.push(record)
    at = end
  }
  return { records, state: 'whole' }
}
