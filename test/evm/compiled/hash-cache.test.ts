import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { hashPair } from '../../../src/evm/compiled/hash-cache.ts'

it('hashes 64 bytes, also when they share a place with others', () => {
  const memory = new Uint8Array(256)
  const words = new Uint32Array(memory.buffer)
  // Twice as many as there are places, and all of them twice.
  for (let i = 0; i < 8192; i++) {
    const input = Uint8Array.from(
      { length: 64 },
      (_, at) => (at % 32 === 31 ? i : at % 32 === 30 ? i >> 8 : 0) & 0x0f,
    )
    memory.set(input, 64)
    hashPair(words, memory, 16, 40)
    expect(memory.slice(160, 192).toReversed()).toEqual(keccak_256(input))
  }
})
