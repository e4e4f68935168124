import { describe, expect, it } from 'vitest'
import { CHAINS } from '../../../src/chain/config.ts'
import { decodeHeader, type Header, hashForMergedMining } from '../../../src/chain/header.ts'
import {
  coinbaseHash,
  joinCompressed,
  splitCompressed,
  TAG,
} from '../../../src/chain/merged-mining/commitment.ts'
import { rootOfBranch } from '../../../src/chain/merged-mining/merkle-branch.ts'
import {
  decodeParentHeader,
  encodeParentHeader,
  meetsTarget,
} from '../../../src/chain/merged-mining/parent-header.ts'
import { attachProof, checkProof } from '../../../src/chain/merged-mining/proof.ts'
import { concat, EMPTY } from '../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import { NodeError } from '../../../src/errors.ts'
import { fixture } from '../../support/fixture.ts'
import { mineHeader } from '../../support/mined-header.ts'
import { localHeader } from './local-header.ts'

const config = CHAINS.regtest

/** The rule that a header breaks, in words; `undefined` when its proof holds. */
function brokenRule(header: Header, chain = config): string | undefined {
  try {
    checkProof(header, chain)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(NodeError)
    expect((error as NodeError).kind).toBe('invalid-block')
    return (error as NodeError).message
  }
}

/** A solution around any coinbase, found by trying nonces. */
function solved(header: Header, coinbase: Uint8Array, merkleBranch: Uint8Array = EMPTY): Header {
  const merkleRoot = rootOfBranch(doubleSha256(coinbase), merkleBranch)
  const blank = { version: 1, previousHash: new Uint8Array(32), merkleRoot, time: 0, bits: 0 }
  for (let nonce = 0; ; nonce++) {
    const parentHeader = encodeParentHeader({ ...blank, nonce })
    if (meetsTarget(parentHeader, header.difficulty))
      return attachProof(header, { parentHeader, coinbase, merkleBranch })
  }
}

const NO_COMMITMENT = 'The coinbase transaction does not commit to this block'
const WRONG_BRANCH = 'The merkle branch does not lead from the coinbase transaction to the merkle root'
const SHORT_COINBASE = 'The coinbase transaction must be longer than 64 bytes'

describe('real proofs', () => {
  it.each(['testnet-436', 'testnet-64746', 'powhsm-1249'])('are valid in %s, at every step', (name) => {
    const header = decodeHeader(fromHex(fixture<{ full: Hex }>(`headers/${name}.json`).full), CHAINS.testnet)
    const { merkleRoot } = decodeParentHeader(header.bitcoinHeader)
    const root = rootOfBranch(coinbaseHash(splitCompressed(header.coinbaseTransaction)), header.merkleProof)
    expect(root).toEqual(merkleRoot)
    expect(meetsTarget(header.bitcoinHeader, header.difficulty)).toBe(true)
    expect(brokenRule(header, CHAINS.testnet)).toBeUndefined()
  })

  it('are invalid after any change of the header', () => {
    const header = decodeHeader(
      fromHex(fixture<{ full: Hex }>('headers/testnet-436.json').full),
      CHAINS.testnet,
    )
    expect(brokenRule({ ...header, timestamp: header.timestamp + 1 }, CHAINS.testnet)).toBe(NO_COMMITMENT)
    expect(brokenRule({ ...header, merkleProof: header.merkleProof.subarray(32) }, CHAINS.testnet)).toBe(
      WRONG_BRANCH,
    )
  })
})

describe('a proof', () => {
  const header = localHeader(7)
  const hash = fromHex(hashForMergedMining(header, config))
  const padding = new Uint8Array(70).fill(5)

  it('may be in any coinbase, with any branch', () => {
    const branch = new Uint8Array(96).map((_, i) => i)
    for (const before of [0, 24, 63, 64, 200]) {
      for (const after of [4, 128]) {
        const coinbase = concat(new Uint8Array(before).fill(1), TAG, hash, new Uint8Array(after))
        const rule = coinbase.length > 64 ? undefined : SHORT_COINBASE
        expect(brokenRule(solved(header, coinbase, branch))).toEqual(rule)
      }
    }
  })

  it.each([
    ['without a header', { bitcoinHeader: EMPTY }, 'The parent-chain header must have 80 bytes'],
    [
      'with a longer header',
      { bitcoinHeader: new Uint8Array(81) },
      'The parent-chain header must have 80 bytes',
    ],
    ['without a coinbase', { coinbaseTransaction: EMPTY }, 'a shortened coinbase has at least 40 bytes'],
    [
      'with a coinbase that has no tag',
      { coinbaseTransaction: new Uint8Array(200) },
      'The coinbase transaction holds no tag',
    ],
    [
      'with half a hash for a branch',
      { merkleProof: new Uint8Array(16) },
      'a merkle branch consists of 32-byte hashes',
    ],
    ['with too long a branch', { merkleProof: new Uint8Array(992) }, 'a merkle branch has at most 30 hashes'],
    ['with a foreign branch', { merkleProof: new Uint8Array(32) }, WRONG_BRANCH],
    [
      'of too little work',
      { difficulty: 2n ** 200n },
      'The hash of the parent-chain header does not meet the target',
    ],
  ] as const)('is refused %s', (_, change, rule) => {
    expect(brokenRule({ ...solved(header, concat(padding, TAG, hash, new Uint8Array(4))), ...change })).toBe(
      rule,
    )
  })

  it('is refused when a later tag names another hash', () => {
    const coinbase = concat(padding, TAG, hash, TAG, new Uint8Array(32))
    expect(brokenRule(solved(header, coinbase))).toBe(NO_COMMITMENT)
  })

  it('is refused when more than 128 bytes follow the hash', () => {
    expect(brokenRule(solved(header, concat(padding, TAG, hash, new Uint8Array(129))))).toBe(
      'More than 128 bytes follow the hash in the coinbase transaction',
    )
  })

  it('is refused when the coinbase is 64 bytes or less', () => {
    expect(brokenRule(solved(header, concat(TAG, hash, new Uint8Array(23))))).toBe(SHORT_COINBASE)
    expect(brokenRule(solved(header, concat(TAG, hash, new Uint8Array(24))))).toBeUndefined()
  })

  it('is refused when the tag lies beyond the first 64 bytes of the tail', () => {
    const mined = mineHeader(header, config, { time: 1 })
    const { count, state, tail } = splitCompressed(mined.coinbaseTransaction)
    const longer = joinCompressed({ count, state, tail: concat(new Uint8Array(64), tail) })
    expect(brokenRule({ ...mined, coinbaseTransaction: longer })).toBe(
      'The tag lies beyond the first 64 bytes of the shortened coinbase',
    )
  })
})
