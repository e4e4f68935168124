import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BLOCK_BYTES,
  finishSha256,
  INITIAL_STATE,
  midstateOf,
  stateBytes,
  stateFrom,
} from '../../../src/chain/merged-mining/sha256-midstate.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { bytes } from '../../support/arbitraries.ts'

describe('SHA-256 in two parts', () => {
  it('starts from the initial state of the standard', () => {
    expect(toHex(stateBytes(INITIAL_STATE))).toBe(
      '0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19',
    )
  })

  it('ends as SHA-256 does, wherever it was stopped', () => {
    fc.assert(
      fc.property(bytes(400), fc.nat(6), (message, blocks) => {
        const count = Math.min(blocks, Math.floor(message.length / BLOCK_BYTES)) * BLOCK_BYTES
        const state = stateFrom(stateBytes(midstateOf(message, count)))
        expect(toHex(finishSha256(state, count, message.subarray(count)))).toBe(toHex(sha256(message)))
      }),
    )
  })

  it('pads at every length around a block', () => {
    for (let length = 50; length <= 130; length++) {
      const message = new Uint8Array(length).fill(length)
      expect(toHex(finishSha256(INITIAL_STATE, 0, message))).toBe(toHex(sha256(message)))
    }
  })
})
