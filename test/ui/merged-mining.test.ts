/** The explorer's reading of proofs, on a real header of the test network (docs/internals/protocol.md#19-test-vectors). */
import { describe, expect, it } from 'vitest'
import { CHAINS } from '../../src/chain/config.ts'
import { decodeHeader } from '../../src/chain/header.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { readProof } from '../../src/ui/merged-mining.ts'
import type { Header } from '../../src/ui/model.ts'
import { fixture } from '../support/fixture.ts'

interface Real {
  readonly full: Hex
  readonly hashForMergedMining: Hex
  readonly forkDetectionData: Hex
  readonly proof: { readonly compressedBytes: number }
}

const real = fixture<Real>('headers/testnet-64746.json')
const decoded = decodeHeader(fromHex(real.full), CHAINS.testnet)

/** The members of `eth_getHeaderByNumber` that a proof is read from. */
const header = {
  difficulty: `0x${decoded.difficulty.toString(16)}`,
  bitcoinMergedMiningHeader: toHex(decoded.bitcoinHeader),
  bitcoinMergedMiningMerkleProof: toHex(decoded.merkleProof),
  bitcoinMergedMiningCoinbaseTransaction: toHex(decoded.coinbaseTransaction),
  hashForMergedMining: real.hashForMergedMining,
} as Header

const holds = (changed: Partial<Header>) =>
  readProof({ ...header, ...changed })?.checks.map(({ holds }) => holds)

describe('readProof', () => {
  it('decodes a real proof, and finds it valid', () => {
    const proof = readProof(header)
    expect(proof?.checks.map(({ holds, text }) => [holds, text])).toEqual([
      [true, 'The hash after the tag RSKBLOCK: is the merged-mining hash of this block.'],
      [
        true,
        `The merkle proof leads from the id of the coinbase over ${proof?.siblings.length} siblings to the merkle root of the parent-chain header.`,
      ],
      [true, "The hash of the parent-chain header is at most the target of the block's difficulty."],
    ])
    expect(proof?.siblings.length).toBeGreaterThan(0)
    expect(proof?.coinbase).toMatchObject({
      hashedBytes: real.proof.compressedBytes,
      committed: real.hashForMergedMining,
    })
    expect(proof?.coinbase.committed?.endsWith(real.forkDetectionData.slice(2))).toBe(true)
  })

  it('finds the step that a changed part invalidates', () => {
    const changed = (hex: string, at: number) =>
      `${hex.slice(0, at)}${hex[at] === '0' ? '1' : '0'}${hex.slice(at + 1)}` as Hex
    const { bitcoinMergedMiningHeader: parent, bitcoinMergedMiningMerkleProof: branch } = header
    expect(holds({ hashForMergedMining: changed(header.hashForMergedMining, 10) })).toEqual([
      false,
      true,
      true,
    ])
    expect(holds({ bitcoinMergedMiningMerkleProof: changed(branch, 20) })).toEqual([true, false, true])
    expect(holds({ bitcoinMergedMiningHeader: changed(parent, 2 + 2 * 40) })).toEqual([true, false, false])
    expect(holds({ difficulty: `0x1${'0'.repeat(60)}` })).toEqual([true, true, false])
    expect(holds({ bitcoinMergedMiningCoinbaseTransaction: `0x${'00'.repeat(60)}` })).toEqual([
      false,
      false,
      true,
    ])
  })

  it('returns no proof for other formats', () => {
    expect(readProof({ ...header, bitcoinMergedMiningHeader: '0x' })).toBeUndefined()
    expect(readProof({ ...header, bitcoinMergedMiningMerkleProof: '0x00' })).toBeUndefined()
    expect(
      readProof({ ...header, bitcoinMergedMiningCoinbaseTransaction: `0x${'ff'.repeat(60)}` }),
    ).toBeUndefined()
  })
})
