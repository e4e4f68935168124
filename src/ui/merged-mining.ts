/** Takes the merged-mining proof of a header apart, and checks each of its steps (docs/internals/protocol.md#23-proof-of-work). */
import { finishSha256, INITIAL_STATE, stateFrom } from '../chain/merged-mining/sha256-midstate.ts'
import { byteLength, type Hex } from './format.ts'
import type { Header } from './model.ts'

const HEADER_BYTES = 80
const HASH_BYTES = 32
/** RSKIP-180: at most 30 siblings. */
const MOST_SIBLINGS = 30
/** A shortened coinbase begins with the count of bytes that were hashed (8) and the SHA-256 state after them (32). */
const COUNT_BYTES = 8
const STATE_END = 40
const TAG = [...'RSKBLOCK:'].map((letter) => letter.charCodeAt(0))
/** Bytes of the committed hash that stay where fork detection data follow (RSKIP-110). */
const PREFIX_BYTES = 20

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: byteLength(hex) }, (_, i) =>
    Number.parseInt(hex.slice(2 + 2 * i, 4 + 2 * i), 16),
  )
}

function toHex(bytes: Iterable<number>): Hex {
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

const reversed = (bytes: Uint8Array): Uint8Array => bytes.slice().reverse()
const sha256 = (bytes: Uint8Array): Uint8Array => finishSha256(INITIAL_STATE, 0, bytes)
const doubleSha256 = (bytes: Uint8Array): Uint8Array => sha256(sha256(bytes))

/** The fields of a parent-chain header; hashes in the order in which they are displayed. */
export interface ParentHeader {
  readonly hash: Hex
  readonly version: number
  readonly previousHash: Hex
  readonly merkleRoot: Hex
  /** Unix seconds. */
  readonly time: number
  readonly bits: Hex
  readonly nonce: number
}

/** The shortened coinbase transaction. */
export interface Coinbase {
  /** Bytes that only their SHA-256 state stands for. */
  readonly hashedBytes: number
  readonly state: Hex
  readonly tail: Hex
  /** The 32 bytes after the last tag; absent without a tag. */
  readonly committed: Hex | undefined
  /** Transaction id, in display order. */
  readonly id: Hex
}

/** One step of the verification, in words. */
export interface Check {
  readonly holds: boolean
  readonly text: string
}

/** A proof taken apart. */
export interface Proof {
  readonly parent: ParentHeader
  readonly coinbase: Coinbase
  /** Siblings from the coinbase up to the root, in display order. */
  readonly siblings: readonly Hex[]
  readonly target: Hex
  readonly checks: readonly Check[]
}

function readParent(bytes: Uint8Array): ParentHeader {
  const view = new DataView(bytes.buffer)
  return {
    hash: toHex(reversed(doubleSha256(bytes))),
    version: view.getUint32(0, true),
    previousHash: toHex(reversed(bytes.subarray(4, 36))),
    merkleRoot: toHex(reversed(bytes.subarray(36, 68))),
    time: view.getUint32(68, true),
    bits: `0x${view.getUint32(72, true).toString(16).padStart(8, '0')}`,
    nonce: view.getUint32(76, true),
  }
}

function lastTag(bytes: Uint8Array): number {
  for (let at = bytes.length - TAG.length; at >= 0; at--) {
    if (TAG.every((byte, i) => bytes[at + i] === byte)) return at
  }
  return -1
}

function readCoinbase(bytes: Uint8Array): Coinbase | undefined {
  if (bytes.length < STATE_END) return undefined
  const hashedBytes = Number(BigInt(toHex(bytes.subarray(0, COUNT_BYTES))))
  if (!Number.isSafeInteger(hashedBytes) || hashedBytes % 64 !== 0) return undefined
  const tail = bytes.slice(STATE_END)
  const tag = lastTag(tail)
  const committed = tail.subarray(tag + TAG.length, tag + TAG.length + HASH_BYTES)
  const state = bytes.subarray(COUNT_BYTES, STATE_END)
  return {
    hashedBytes,
    state: toHex(state),
    tail: toHex(tail),
    committed: tag >= 0 && committed.length === HASH_BYTES ? toHex(committed) : undefined,
    id: toHex(reversed(sha256(finishSha256(stateFrom(state), hashedBytes, tail)))),
  }
}

/** The root to which the siblings lead from the coinbase, in display order. */
function rootOf(id: Hex, siblings: readonly Hex[]): Hex {
  let node = reversed(bytesOf(id))
  for (const sibling of siblings) {
    node = doubleSha256(Uint8Array.from([...node, ...reversed(bytesOf(sibling))]))
  }
  return toHex(reversed(node))
}

function commitmentCheck({ committed }: Coinbase, wanted: Hex): Check {
  if (committed === undefined) return { holds: false, text: 'The coinbase holds no RSKBLOCK: tag.' }
  const digits = 2 + 2 * PREFIX_BYTES
  if (committed === wanted) {
    return { holds: true, text: 'The hash after the tag RSKBLOCK: is the merged-mining hash of this block.' }
  }
  const holds = committed.slice(0, digits) === wanted.slice(0, digits)
  return {
    holds,
    text: holds
      ? `The first ${PREFIX_BYTES} bytes after the tag RSKBLOCK: are those of this block's merged-mining hash; fork detection data follow.`
      : "The hash after the tag RSKBLOCK: is not this block's.",
  }
}

/** Takes the proof of a block apart; `undefined` where the block has none in today's form (RSKIP-92). */
export function readProof(header: Header): Proof | undefined {
  const parentBytes = bytesOf(header.bitcoinMergedMiningHeader)
  const branch = bytesOf(header.bitcoinMergedMiningMerkleProof)
  const coinbase = readCoinbase(bytesOf(header.bitcoinMergedMiningCoinbaseTransaction))
  if (parentBytes.length !== HEADER_BYTES || branch.length % HASH_BYTES !== 0 || coinbase === undefined) {
    return undefined
  }
  const parent = readParent(parentBytes)
  const siblings = Array.from({ length: branch.length / HASH_BYTES }, (_, i) =>
    toHex(branch.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)),
  )
  const difficulty = BigInt(header.difficulty)
  const target = 2n ** 256n / (difficulty <= 2n ? 3n : difficulty)
  const root = rootOf(coinbase.id, siblings)
  const levels = siblings.length === 1 ? '1 sibling' : `${siblings.length} siblings`
  const meets = BigInt(parent.hash) <= target
  return {
    parent,
    coinbase,
    siblings,
    target: `0x${target.toString(16).padStart(64, '0')}`,
    checks: [
      commitmentCheck(coinbase, header.hashForMergedMining),
      {
        holds: root === parent.merkleRoot && siblings.length <= MOST_SIBLINGS,
        text:
          root !== parent.merkleRoot
            ? 'The merkle proof does not lead to the merkle root of the parent-chain header.'
            : siblings.length === 0
              ? 'The coinbase is the only transaction of the parent-chain block: its id is the merkle root.'
              : `The merkle proof leads from the id of the coinbase over ${levels} to the merkle root of the parent-chain header.`,
      },
      {
        holds: meets,
        text: `The hash of the parent-chain header is ${meets ? 'at most' : 'above'} the target of the block's difficulty.`,
      },
    ],
  }
}
