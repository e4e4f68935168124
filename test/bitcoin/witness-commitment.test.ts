/** Commitments of coinbase transactions to witnesses (BIP-141). */
import { describe, expect, it } from 'vitest'
import { findWitnessCommitment, witnessCommitment } from '../../src/bitcoin/witness-commitment.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'

const outputsOf = (...scripts: readonly string[]) => ({
  version: 1,
  inputs: [],
  outputs: scripts.map((script) => ({ value: 0n, script: fromHex(`0x${script}`) })),
  lockTime: 0,
})
const TAG = '6a24aa21a9ed'

describe('a witness commitment', () => {
  it('is in the last output that has one', () => {
    const [first, second] = ['11'.repeat(32), '22'.repeat(32)]
    const found = findWitnessCommitment(outputsOf('', TAG + first, `${TAG}${second}0055`, '6a', `${TAG}33`))
    expect(found && toHex(found)).toBe(`0x${second}`)
  })

  it('is in no other output', () => {
    expect(findWitnessCommitment(outputsOf('', `6a25${TAG.slice(4)}${'11'.repeat(32)}`))).toBeUndefined()
  })

  // A block with the coinbase alone: its wtxid counts as zero, and so does the reserved value of Bitcoin Core.
  it('hashes root and reserved value', () => {
    expect(toHex(witnessCommitment(new Uint8Array(32), new Uint8Array(32)))).toBe(
      '0xe2f61c3f71d1defd3fa999dfa36953755c690689799962b48bebd836974e8cf9',
    )
  })
})
