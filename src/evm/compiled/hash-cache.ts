/**
 * Hashes of 64 bytes, kept: Solidity hashes a key and a slot at each access to a mapping, and contracts access the same
 * entries again and again.
 */
import { keccak256 } from '../../encoding/hash.ts'

/** Entries; each input has one place. */
const ENTRIES = 2048
/** Inputs and digests, 32 bits at a time. */
const INPUT = 16
const DIGEST = 8

const inputs = new Uint32Array(ENTRIES * INPUT)
const digests = new Uint32Array(ENTRIES * DIGEST)
const bytes = new Uint8Array(digests.buffer)
const isUsed = new Uint8Array(ENTRIES)

/**
 * Hashes the 64 bytes at the index `from` of a memory's 32-bit view and writes the digest, as four 64-bit lanes with the
 * lowest first, to the index `to`. Both views are of the same memory.
 */
export function hashPair(words: Uint32Array, memory: Uint8Array, from: number, to: number): void {
  let mixed = 0
  for (let i = 0; i < INPUT; i++) {
    mixed = Math.imul(mixed ^ (words[from + i] as number), 0x9e3779b1)
    mixed ^= mixed >>> 15
  }
  const entry = mixed & (ENTRIES - 1)
  const key = entry * INPUT
  let isKnown = isUsed[entry] === 1
  for (let i = 0; isKnown && i < INPUT; i++) isKnown = inputs[key + i] === words[from + i]
  if (!isKnown) {
    isUsed[entry] = 1
    inputs.set(words.subarray(from, from + INPUT), key)
    const digest = keccak256(memory.subarray(from * 4, (from + INPUT) * 4))
    for (let i = 0; i < 32; i++) bytes[entry * 32 + i] = digest[31 - i] as number
  }
  for (let i = 0; i < DIGEST; i++) words[to + i] = digests[entry * DIGEST + i] as number
}
