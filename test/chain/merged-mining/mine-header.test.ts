import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHAINS, type ChainConfig } from '../../../src/chain/config.ts'
import { decodeHeader, hashForMergedMining, headerHash } from '../../../src/chain/header.ts'
import {
  committedHash,
  lastPosition,
  splitCompressed,
  TAG,
} from '../../../src/chain/merged-mining/commitment.ts'
import { ProofSearch } from '../../../src/chain/merged-mining/mine-header.ts'
import { decodeParentHeader } from '../../../src/chain/merged-mining/parent-header.ts'
import { checkProof } from '../../../src/chain/merged-mining/proof.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import { fixedBytes, headers } from '../../support/arbitraries.ts'
import { fixture } from '../../support/fixture.ts'
import { mineHeader } from '../../support/mined-header.ts'
import { localHeader } from './local-header.ts'

const config = CHAINS.regtest

function withForkDetection(on: boolean): ChainConfig {
  return { ...config, rulesAt: (height) => ({ ...config.rulesAt(height), forkDetection: on }) }
}

describe('mining', () => {
  it('gives any header a valid proof', () => {
    const data = fc.option(fixedBytes(12), { nil: undefined })
    fc.assert(
      fc.property(
        headers,
        data,
        fc.nat(0xffff_ffff),
        fc.integer({ min: 0, max: 2000 }),
        (random, fork, time, difficulty) => {
          const header = {
            ...random,
            difficulty: BigInt(difficulty),
            bitcoinHeader: EMPTY,
            merkleProof: EMPTY,
            coinbaseTransaction: EMPTY,
          }
          const chain = withForkDetection(fork !== undefined)
          const mined = mineHeader(header, chain, { forkDetectionData: fork, time })
          expect(() => checkProof(mined, chain)).not.toThrow()
          expect(decodeParentHeader(mined.bitcoinHeader).time).toBe(time)
          expect(hashForMergedMining(mined, chain)).toBe(hashForMergedMining(header, chain, fork))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('formats the proof as the reference node’s local miner does', () => {
    const header = localHeader(1)
    const mined = mineHeader(header, config, { time: 1_700_000_123 })
    const { count, tail } = splitCompressed(mined.coinbaseTransaction)
    expect(count).toBe(64)
    expect(lastPosition(tail, TAG)).toBeLessThan(64)
    expect(tail.length - lastPosition(tail, TAG) - TAG.length - 32).toBe(4)
    expect(committedHash(tail)).toEqual(fromHex(hashForMergedMining(header, config)))
    expect(mined.merkleProof).toHaveLength(0)
    expect(decodeParentHeader(mined.bitcoinHeader)).toMatchObject({
      version: 70_001,
      previousHash: new Uint8Array(32),
      time: 1_700_000_123,
    })
    // A block of the real local miner, for what nobody checks: version, previous hash, bits.
    const { full } = fixture<{ full: Hex }>('headers/powhsm-1249.json')
    const real = decodeHeader(fromHex(full), CHAINS.testnet).bitcoinHeader
    expect(mined.bitcoinHeader.subarray(0, 36)).toEqual(real.subarray(0, 36))
    expect(mined.bitcoinHeader.subarray(72, 76)).toEqual(real.subarray(72, 76))
  })

  it('is deterministic, and differs for another time', () => {
    const mine = (time: number) => headerHash(mineHeader(localHeader(3), config, { time }), config)
    expect(mine(5)).toBe(mine(5))
    expect(mine(5)).not.toBe(mine(6))
  })

  it('continues at the nonce where the last slice ended', () => {
    const header = { ...localHeader(9), difficulty: 500n }
    const whole = mineHeader(header, config, { time: 77 })
    const search = new ProofSearch(header, config, { time: 77 })
    let sliced = search.advance(1)
    while (sliced === undefined) sliced = search.advance(7)
    expect(sliced).toEqual(whole)
    expect(search.advance(0)).toBeUndefined()
  })

  it('starts at the given nonce, and increments the time when nonces run out', () => {
    const header = { ...localHeader(9), difficulty: 50n }
    const mined = mineHeader(header, config, { time: 77, startNonce: 0xffff_ffff })
    const parent = decodeParentHeader(mined.bitcoinHeader)
    expect(() => checkProof(mined, config)).not.toThrow()
    expect(parent.nonce === 0xffff_ffff ? parent.time : parent.time - 1).toBe(77)
  })
})
