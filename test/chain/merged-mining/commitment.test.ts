import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHAINS } from '../../../src/chain/config.ts'
import { decodeHeader } from '../../../src/chain/header.ts'
import {
  coinbaseHash,
  committedHash,
  compressCoinbase,
  forkDataIn,
  joinCompressed,
  lastPosition,
  splitCompressed,
  TAG,
} from '../../../src/chain/merged-mining/commitment.ts'
import { concat } from '../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { bytes, fixedBytes } from '../../support/arbitraries.ts'
import { fixture } from '../../support/fixture.ts'

interface Real {
  readonly full: Hex
  readonly hashForMergedMining: Hex
  readonly proof: {
    readonly compressedBytes: number
    readonly tagPosition: number
    readonly bytesAfterHash: number
  }
}

describe('the commitment in a coinbase', () => {
  it.each(['testnet-436', 'testnet-64746'])('is at the documented offset in %s', (name) => {
    const { full, hashForMergedMining, proof } = fixture<Real>(`headers/${name}.json`)
    const { coinbaseTransaction } = decodeHeader(fromHex(full), CHAINS.testnet)
    const compressed = splitCompressed(coinbaseTransaction)
    const { count, tail } = compressed
    expect(count).toBe(proof.compressedBytes)
    expect(lastPosition(tail, TAG)).toBe(proof.tagPosition)
    expect(tail.length - proof.tagPosition - TAG.length - 32).toBe(proof.bytesAfterHash)
    expect(toHex(committedHash(tail) as Uint8Array)).toBe(hashForMergedMining)
    expect(joinCompressed(compressed)).toEqual(coinbaseTransaction)
  })

  it('has the transaction id of the whole coinbase when it is shortened, and keeps the last tag in reach', () => {
    fc.assert(
      fc.property(bytes(300), bytes(60), fixedBytes(32), bytes(128), (before, between, hash, after) => {
        const coinbase = concat(before, TAG, between, TAG, hash, after)
        const position = lastPosition(coinbase, TAG)
        const compressed = splitCompressed(compressCoinbase(coinbase))
        expect(toHex(coinbaseHash(compressed))).toBe(toHex(doubleSha256(coinbase)))
        expect(compressed.count % 64).toBe(0)
        expect(lastPosition(compressed.tail, TAG)).toBe(position - compressed.count)
        expect(position - compressed.count).toBeLessThan(64)
        expect(committedHash(coinbase)).toEqual(hash)
      }),
      { numRuns: 50 },
    )
  })

  it('is missing without a tag, or when the hash after it is cut off', () => {
    expect(committedHash(new Uint8Array(100))).toBeUndefined()
    expect(committedHash(concat(TAG, new Uint8Array(31)))).toBeUndefined()
    expect(() => compressCoinbase(new Uint8Array(100))).toThrow(RangeError)
  })

  it('refuses a shortened coinbase that is too short or counts part of a block', () => {
    expect(() => splitCompressed(new Uint8Array(39))).toThrow(RangeError)
    expect(() => splitCompressed(concat(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 63), new Uint8Array(60)))).toThrow(
      RangeError,
    )
    expect(() => splitCompressed(new Uint8Array(60).fill(0xff))).toThrow(RangeError)
  })

  it('contains fork detection data only when they are complete and follow tag and prefix', () => {
    const prefix = new Uint8Array(20).fill(3)
    const data = new Uint8Array(12).fill(4)
    const state = new Uint8Array(40)
    expect(forkDataIn(concat(state, TAG, prefix, data), prefix)).toEqual(data)
    expect(forkDataIn(concat(state, TAG, prefix, data.subarray(1)), prefix)).toBeUndefined()
    expect(forkDataIn(concat(state, TAG, data, prefix), prefix)).toBeUndefined()
    expect(forkDataIn(new Uint8Array(0), prefix)).toBeUndefined()
  })
})
