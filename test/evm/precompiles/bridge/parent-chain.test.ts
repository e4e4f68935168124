/** Difficulty of the parent chain's headers: published blocks of its networks, and its rules at the edges of intervals. */
import { describe, expect, it } from 'vitest'
import {
  decodeParentHeader,
  encodeParentHeader,
  hashValue,
} from '../../../../src/chain/merged-mining/parent-header.ts'
import { doubleSha256 } from '../../../../src/encoding/hash.ts'
import { toFixedHex } from '../../../../src/encoding/hex.ts'
import { MAINNET } from '../../../../src/evm/precompiles/bridge/constants/mainnet.ts'
import { REGTEST } from '../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { TESTNET } from '../../../../src/evm/precompiles/bridge/constants/testnet.ts'
import {
  decodeTarget,
  encodeTarget,
  hasRightDifficulty,
  parentRules,
} from '../../../../src/evm/precompiles/bridge/headers/parent-chain.ts'
import { previousHash, type StoredHeader } from '../../../../src/state/bridge-headers.ts'

const displayed = ({ hash }: StoredHeader) => toFixedHex(hash, 32)

describe('the first headers', () => {
  it('are the published ones', () => {
    expect(displayed(parentRules(REGTEST.parent).genesis)).toBe(
      '0x0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
    )
    expect(displayed(parentRules(TESTNET.parent).genesis)).toBe(
      '0x000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
    )
    expect(displayed(parentRules(MAINNET.parent).genesis)).toBe(
      '0x000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
    )
  })

  it('have checkpoints whose hashes meet their targets', () => {
    for (const [network, hash] of [
      [TESTNET, '0x000000000000001aa547c01c17edae35e21dd63fd7e6627daedf997bd3a54627'],
      [MAINNET, '0x000000000000000000296e10eb4987c4eb9b7ba0841102dec4480e5d6b89acb5'],
    ] as const) {
      const first = parentRules(network.parent).checkpoint?.first
      if (first === undefined) throw new Error('no checkpoint')
      expect(displayed(first)).toBe(hash)
      expect(first.hash <= decodeTarget(decodeParentHeader(first.bytes).bits)).toBe(true)
    }
  })
})

describe('compact targets', () => {
  it.each([
    [0x1d00ffff, 0xffffn << 208n],
    [0x207fffff, 0x7fffffn << 232n],
    [0x1b0404cb, 0x404cbn << 192n],
    [0x03123456, 0x123456n],
    [0x02123400, 0x1234n],
  ] as const)('%s stands for %s', (bits, target) => {
    expect(decodeTarget(bits)).toBe(target)
    expect(encodeTarget(target)).toBe(bits)
  })

  it('have a sign', () => {
    expect(decodeTarget(0x01fedcba)).toBeLessThan(0n)
  })
})

/** A chain of headers without proof of work, each with the bits and the time that it is given. */
function chainOf(start: number, headers: readonly { readonly bits: number; readonly time: number }[]) {
  const byHash = new Map<bigint, StoredHeader>()
  let last: StoredHeader | undefined
  for (const [i, { bits, time }] of headers.entries()) {
    const previousHash = last === undefined ? new Uint8Array(32) : doubleSha256(last.bytes)
    const bytes = encodeParentHeader({
      version: 1,
      previousHash,
      merkleRoot: new Uint8Array(32),
      time,
      bits,
      nonce: 0,
    })
    last = { hash: hashValue(doubleSha256(bytes)), bytes, height: start + i, work: 0n }
    byHash.set(last.hash, last)
  }
  if (last === undefined) throw new Error('no headers')
  return { last, source: ({ bytes }: StoredHeader) => byHash.get(previousHash(bytes)) }
}

const next = (bits: number, time: number) => ({
  version: 1,
  previousHash: new Uint8Array(32),
  merkleRoot: new Uint8Array(32),
  time,
  bits,
  nonce: 0,
})

describe('the difficulty of the main network', () => {
  const BITS = 0x1d00ffff

  it('stays within an interval', () => {
    const { last, source } = chainOf(100, [{ bits: BITS, time: 1000 }])
    expect(hasRightDifficulty(MAINNET.parent, next(BITS, 1600), last, source)).toBe(true)
    expect(hasRightDifficulty(MAINNET.parent, next(0x1c00ffff, 1600), last, source)).toBe(false)
  })

  it('became that of block 32,256 by the times of the interval before it', () => {
    // Blocks 30,240 and 32,255 of the main network; what lies between them has no effect.
    const headers = Array.from({ length: 2016 }, (_, i) => ({
      bits: BITS,
      time: i === 0 ? 1_261_130_161 : 1_262_152_739,
    }))
    const { last, source } = chainOf(30_240, headers)
    expect(hasRightDifficulty(MAINNET.parent, next(0x1d00d86a, 1_262_153_464), last, source)).toBe(true)
    expect(hasRightDifficulty(MAINNET.parent, next(BITS, 1_262_153_464), last, source)).toBe(false)
  })

  it('cannot be told without the whole interval', () => {
    const { last, source } = chainOf(2015, [{ bits: BITS, time: 1000 }])
    expect(() => hasRightDifficulty(MAINNET.parent, next(BITS, 1600), last, source)).toThrow(RangeError)
  })
})

describe('the difficulty of the test network', () => {
  const HARD = 0x1b0404cb
  const EASY = 0x1d00ffff
  const TIME = 1_600_000_000

  it('may be the least after twenty minutes', () => {
    const { last, source } = chainOf(100, [{ bits: HARD, time: TIME }])
    expect(hasRightDifficulty(TESTNET.parent, next(EASY, TIME + 1201), last, source)).toBe(true)
    expect(hasRightDifficulty(TESTNET.parent, next(EASY, TIME + 1200), last, source)).toBe(false)
    expect(hasRightDifficulty(TESTNET.parent, next(EASY, TIME - 1), last, source)).toBe(true)
  })

  it('is otherwise that of the last header that was not easy', () => {
    const { last, source } = chainOf(100, [
      { bits: HARD, time: TIME },
      { bits: EASY, time: TIME + 2000 },
      { bits: EASY, time: TIME + 4000 },
    ])
    expect(hasRightDifficulty(TESTNET.parent, next(HARD, TIME + 4001), last, source)).toBe(true)
    expect(hasRightDifficulty(TESTNET.parent, next(EASY, TIME + 4001), last, source)).toBe(false)
  })
})
