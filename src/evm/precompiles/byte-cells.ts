/**
 * Storage cells of arbitrary length over a state of 256-bit words.
 *
 * In the reference node a cell is a byte string. A cell of at most 32 bytes that does not begin with a zero byte is the
 * word of these bytes, as `eth_getStorageAt` gives it. Any other cell is kept beside it: its length in a slot derived from
 * its own, its bytes in the slots that follow. A state whose cells are byte strings needs none of this.
 */
import { EMPTY, fromBigInt, fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import type { Overlay } from '../../state/overlay.ts'

const WORD = 32

function lengthSlot(slot: bigint): bigint {
  return toBigInt(keccak256(fromBigIntFixed(slot, WORD)))
}

/** A cell's bytes; empty where there is none. */
export function readBytes(state: StateReader, address: Hex, slot: bigint): Uint8Array {
  const word = state.storage(address, slot)
  if (word !== 0n) return fromBigInt(word)
  const long = lengthSlot(slot)
  const bytes = new Uint8Array(Number(state.storage(address, long)))
  for (let at = 0; at < bytes.length; at += WORD) {
    const part = state.storage(address, long + 1n + BigInt(at / WORD))
    bytes.set(fromBigIntFixed(part, WORD).subarray(0, bytes.length - at), at)
  }
  return bytes
}

/** Sets a cell; no bytes remove it. */
export function writeBytes(state: Overlay, address: Hex, slot: bigint, bytes: Uint8Array): void {
  const put = (at: bigint, word: bigint) => {
    if (state.storage(address, at) !== word) state.putStorage(address, at, word)
  }
  const isWord = bytes.length <= WORD && bytes[0] !== 0
  const rest = isWord ? EMPTY : bytes
  const long = lengthSlot(slot)
  const oldLength = Number(state.storage(address, long))
  put(slot, isWord ? toBigInt(bytes) : 0n)
  put(long, BigInt(rest.length))
  for (let at = 0; at < Math.max(rest.length, oldLength); at += WORD) {
    const part = new Uint8Array(WORD)
    part.set(rest.subarray(at, at + WORD))
    put(long + 1n + BigInt(at / WORD), toBigInt(part))
  }
}
