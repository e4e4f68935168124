/** The parent chain's headers in the Bridge's storage, in the reference node's layout. */
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { decodeParentHeader, hashValue, PARENT_HEADER_BYTES } from '../chain/merged-mining/parent-header.ts'
import { concat, fromBigIntFixed, toBigInt, toNumber } from '../encoding/bytes.ts'
import { doubleSha256 } from '../encoding/hash.ts'
import { fromHex } from '../encoding/hex.ts'
import { CELL, keyedSlot } from './bridge-cells.ts'
import type { StateReader } from './model.ts'
import { cellBytes } from './state-keys.ts'

/** The largest hash on the parent chain's local network; there it never changes. */
export const TARGET = 0x7fffffn << 232n
/** The same as a header has it. */
export const COMPACT_TARGET = 0x207fffff
/** Work of one header. */
export const WORK_PER_HEADER = 2n ** 256n / (TARGET + 1n)

/** A header that the Bridge has accepted. */
export interface StoredHeader {
  /** As displayed, read as an integer. */
  readonly hash: bigint
  /** 80 bytes. */
  readonly bytes: Uint8Array
  readonly height: number
  /** Work of the chain up to and with it. */
  readonly work: bigint
}

const GENESIS_BYTES = fromHex(
  `0x01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000`,
)

/** The first header of the parent chain's local network; the Bridge stores it at the first access. */
export const PARENT_GENESIS: StoredHeader = {
  hash: hashValue(doubleSha256(GENESIS_BYTES)),
  bytes: GENESIS_BYTES,
  height: 0,
  work: WORK_PER_HEADER,
}

/** The slot of the RLP of the hash of the best chain's header at a height. */
export function heightSlot(height: number): bigint {
  return keyedSlot('btcBlockHeight', String(height))
}

const WORD = 32
const HEIGHT_BYTES = 4
const STORED_BYTES = WORD + HEIGHT_BYTES + PARENT_HEADER_BYTES

/** A compact stored block: work, height and the 80 bytes (RSKIP-454). */
export function encodeStored({ work, height, bytes }: StoredHeader): Uint8Array {
  return concat(fromBigIntFixed(work, WORD), fromBigIntFixed(BigInt(height), HEIGHT_BYTES), bytes)
}

/** A stored header; `undefined` for bytes of another length. */
export function decodeStored(stored: Uint8Array): StoredHeader | undefined {
  if (stored.length !== STORED_BYTES) return undefined
  const bytes = stored.slice(WORD + HEIGHT_BYTES)
  return {
    hash: hashValue(doubleSha256(bytes)),
    bytes,
    height: toNumber(stored.subarray(WORD, WORD + HEIGHT_BYTES)),
    work: toBigInt(stored.subarray(0, WORD)),
  }
}

/** The best header in the Bridge's storage, which is left as it is. */
export function readBestHeader(storage: { bytes(slot: bigint): Uint8Array }): StoredHeader {
  return decodeStored(storage.bytes(CELL.chainHead)) ?? PARENT_GENESIS
}

/** The hash of the header before this one, as displayed, read as an integer. */
export function previousHash(bytes: Uint8Array): bigint {
  return hashValue(decodeParentHeader(bytes).previousHash)
}

/** Height of the parent chain's best header in the Bridge's storage. */
export function parentChainHeight(state: StateReader): number {
  return readBestHeader({ bytes: (slot) => cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, slot)) }).height
}
