/** The parent chain's headers in the Bridge's storage, in the reference node's layout. */
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { decodeParentHeader, hashValue, PARENT_HEADER_BYTES } from '../chain/merged-mining/parent-header.ts'
import { concat, fromBigIntFixed, toBigInt, toNumber } from '../encoding/bytes.ts'
import { doubleSha256 } from '../encoding/hash.ts'
import { CELL, keyedSlot } from './bridge-cells.ts'
import type { StateReader } from './model.ts'
import { cellBytes } from './state-keys.ts'

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

/** The slot of the RLP of the hash of the best chain's header at a height. */
export function heightSlot(height: number): bigint {
  return keyedSlot('btcBlockHeight', String(height))
}

/** Bytes of the work, since RSKIP-454 and before. */
const WORK_BYTES = { present: 32, early: 12 } as const
const HEIGHT_BYTES = 4

/** A compact stored block: work, height and the 80 bytes. `isEarly`: with the work of before RSKIP-454; RangeError above it. */
export function encodeStored({ work, height, bytes }: StoredHeader, isEarly = false): Uint8Array {
  const workBytes = isEarly ? WORK_BYTES.early : WORK_BYTES.present
  return concat(fromBigIntFixed(work, workBytes), fromBigIntFixed(BigInt(height), HEIGHT_BYTES), bytes)
}

/** A stored header of either length; `undefined` for bytes of another. */
export function decodeStored(stored: Uint8Array): StoredHeader | undefined {
  const heightAt = stored.length - PARENT_HEADER_BYTES - HEIGHT_BYTES
  if (heightAt !== WORK_BYTES.present && heightAt !== WORK_BYTES.early) return undefined
  const bytes = stored.slice(heightAt + HEIGHT_BYTES)
  return {
    hash: hashValue(doubleSha256(bytes)),
    bytes,
    height: toNumber(stored.subarray(heightAt, heightAt + HEIGHT_BYTES)),
    work: toBigInt(stored.subarray(0, heightAt)),
  }
}

/** The best header in the Bridge's storage; `undefined` while it has none. */
export function readBestHeader(storage: { bytes(slot: bigint): Uint8Array }): StoredHeader | undefined {
  return decodeStored(storage.bytes(CELL.chainHead))
}

/** The hash of the header before this one, as displayed, read as an integer. */
export function previousHash(bytes: Uint8Array): bigint {
  return hashValue(decodeParentHeader(bytes).previousHash)
}

/** Height of the parent chain's best header in the Bridge's storage. */
export function parentChainHeight(state: StateReader): number {
  const storage = { bytes: (slot: bigint) => cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, slot)) }
  return readBestHeader(storage)?.height ?? 0
}
