/** Merged mining checked from raw headers: real ones, made ones, and those that someone has touched. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHAINS } from '../../../src/chain/config.ts'
import {
  decodeHeader,
  encodeHeader,
  type Header,
  hashForMergedMining,
  headerHash,
} from '../../../src/chain/header.ts'
import { type MergedMiningProof, verifyMergedMining } from '../../../src/chain/merged-mining/raw-header.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import { encodeRlp } from '../../../src/encoding/rlp.ts'
import { headers } from '../../support/arbitraries.ts'
import { fixture } from '../../support/fixture.ts'
import { mineHeader } from '../../support/mined-header.ts'
import { localHeader } from './local-header.ts'

interface RealHeader {
  readonly full: Hex
  readonly hash: Hex
  readonly hashForMergedMining?: Hex
}

const refused = (message: unknown = expect.any(String)) =>
  expect.objectContaining({ kind: 'invalid-block', message })

const NO_LIST = 'A raw header is one RLP list of byte strings'

function rawOf(header: Header, chain: 'regtest' | 'testnet'): Uint8Array {
  return encodeHeader(header, 'raw', CHAINS[chain].rulesAt(header.number))
}

function proofOf({ merkleProof, coinbaseTransaction }: Header): MergedMiningProof {
  return { merkleProof, coinbaseTransaction }
}

function flipped(bytes: Uint8Array, at: number, mask: number): Uint8Array {
  const out = bytes.slice()
  out[at % out.length] = (out[at % out.length] as number) ^ mask
  return out
}

describe.each(['testnet-436', 'testnet-64746', 'powhsm-1249'])('the real header %s', (name) => {
  const real = fixture<RealHeader>(`headers/${name}.json`)
  const header = decodeHeader(fromHex(real.full), CHAINS.testnet)
  const raw = rawOf(header, 'testnet')
  const proof = proofOf(header)

  it('has the work that its difficulty requires', () => {
    expect(verifyMergedMining(raw, proof, 'testnet')).toEqual({
      hash: real.hash,
      hashForMergedMining: real.hashForMergedMining ?? hashForMergedMining(header, CHAINS.testnet),
      parentHash: header.parentHash,
      receiptsRoot: header.receiptsRoot,
      number: header.number,
      difficulty: header.difficulty,
    })
  })

  it('lacks the work, or has another hash, after any byte is changed', () => {
    const outcome = (changed: Uint8Array, ofProof: MergedMiningProof) => {
      try {
        return verifyMergedMining(changed, ofProof, 'testnet').hash
      } catch (error) {
        expect(error).toEqual(refused())
        return undefined
      }
    }
    expect(outcome(raw, proof)).toBe(real.hash)
    for (let at = 0; at < raw.length; at++) expect(outcome(flipped(raw, at, 1), proof)).not.toBe(real.hash)
    for (const part of ['merkleProof', 'coinbaseTransaction'] as const) {
      for (let at = 0; at < proof[part].length; at++) {
        const touched = { ...proof, [part]: flipped(proof[part], at, 1) }
        expect(() => verifyMergedMining(raw, touched, 'testnet'), `${part} ${at}`).toThrow(refused())
      }
    }
  })
})

describe('made headers', () => {
  const mined = (header: Header) => mineHeader(header, CHAINS.regtest, { time: 1_700_000_000 })

  it('of every version have their hashes, and the work of their difficulty', () => {
    const easy = fc.constantFrom(1n, 2n, 3n, 9n)
    const umm = fc.boolean()
    fc.assert(
      fc.property(headers, easy, umm, (fields, difficulty, withUmm) => {
        const ummRoot = withUmm && fields.ummRoot !== undefined ? new Uint8Array(20).fill(9) : fields.ummRoot
        const blank = { bitcoinHeader: EMPTY, merkleProof: EMPTY, coinbaseTransaction: EMPTY }
        const header = mined({ ...fields, ...blank, difficulty, ummRoot })
        expect(verifyMergedMining(rawOf(header, 'regtest'), proofOf(header), 'regtest')).toEqual({
          hash: headerHash(header, CHAINS.regtest),
          hashForMergedMining: hashForMergedMining(header, CHAINS.regtest),
          parentHash: header.parentHash,
          receiptsRoot: header.receiptsRoot,
          number: header.number,
          difficulty,
        })
      }),
      { numRuns: 60 },
    )
  })

  it('with fork detection data are checked by their first 20 bytes', () => {
    const header = mineHeader(localHeader(500), CHAINS.regtest, {
      time: 1_700_000_000,
      forkDetectionData: new Uint8Array(12).fill(7),
    })
    const raw = rawOf(header, 'regtest')
    expect(verifyMergedMining(raw, proofOf(header), 'regtest').hashForMergedMining).toMatch(/(07){12}$/)
    const other = proofOf(mined(localHeader(501)))
    expect(() => verifyMergedMining(raw, other, 'regtest')).toThrow(
      refused('The coinbase transaction does not commit to this block'),
    )
  })

  it('are refused, or have another hash, after any byte is changed', () => {
    const header = mined(localHeader(7))
    const raw = rawOf(header, 'regtest')
    const hash = headerHash(header, CHAINS.regtest)
    fc.assert(
      fc.property(fc.nat(raw.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        let found: Hex | undefined
        try {
          found = verifyMergedMining(flipped(raw, at, mask), proofOf(header), 'regtest').hash
        } catch (error) {
          expect(error).toEqual(refused())
        }
        expect(found).not.toBe(hash)
      }),
      { numRuns: 300 },
    )
  })

  it('are refused when they are not raw headers with a proof', () => {
    const header = mined(localHeader(7))
    const proof = proofOf(header)
    const rules = CHAINS.regtest.rulesAt(7)
    const raw = encodeHeader(header, 'raw', rules)
    expect(() => verifyMergedMining(EMPTY, proof, 'regtest')).toThrow(refused(NO_LIST))
    expect(() => verifyMergedMining(raw.subarray(1), proof, 'regtest')).toThrow(refused())
    expect(() => verifyMergedMining(encodeRlp([[], EMPTY]), proof, 'regtest')).toThrow(refused(NO_LIST))
    expect(() => verifyMergedMining(encodeHeader(header, 'full', rules), proof, 'regtest')).toThrow(
      refused('A raw header with proof cannot have 23 elements'),
    )
    const unmined = encodeHeader(localHeader(7), 'raw', rules)
    expect(() => verifyMergedMining(unmined, proof, 'regtest')).toThrow(
      refused('A raw header of 20 elements must have version 1'),
    )
  })
})
