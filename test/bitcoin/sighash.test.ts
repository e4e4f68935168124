/** Hashes for signatures against bitcoinjs-lib and the example of BIP-143. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { legacySighash, SIGHASH_ALL, witnessSighash } from '../../src/bitcoin/sighash.ts'
import { decodeTransaction, withoutWitness } from '../../src/bitcoin/transaction.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../src/encoding/hash.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { library, transactions } from './library.ts'

// The library writes pushes of a single byte in another way.
const scripts = fc.array(fc.uint8Array({ minLength: 2, maxLength: 75 }), { maxLength: 4 }).map((pushes) =>
  // Pushes with separators between them.
  concat(...pushes.flatMap((data) => [Uint8Array.of(data.length), data, Uint8Array.of(0xab, 0x75)])),
)

describe('hashes for signatures', () => {
  it('are those of bitcoinjs-lib', () => {
    fc.assert(
      fc.property(transactions, scripts, fc.bigInt(0n, 2n ** 50n), (theirs, script, value) => {
        const transaction = decodeTransaction(theirs.toBuffer())
        for (const index of transaction.inputs.keys()) {
          expect(legacySighash(withoutWitness(transaction), index, script)).toEqual(
            new Uint8Array(theirs.hashForSignature(index, script, SIGHASH_ALL)),
          )
          expect(witnessSighash(transaction, index, script, value)).toEqual(
            new Uint8Array(theirs.hashForWitnessV0(index, script, value, SIGHASH_ALL)),
          )
        }
      }),
      { numRuns: 60 },
    )
  })

  it('are that of the example P2SH-P2WPKH of BIP-143', () => {
    const transaction = decodeTransaction(
      fromHex(
        '0x0100000001db6b1b20aa0fd7b23880be2ecbd4a98130974cf4748fb66092ac4d3ceb1a54770100000000feffffff02b8b4eb0b000000001976a914a457b684d7f0d539a46a45bbc043f35b59d0d96388ac0008af2f000000001976a914fd270b1ee6abcaea97fea7ad0402e8bd8ad6d77c88ac92040000',
      ),
    )
    const script = fromHex('0x76a91479091972186c449eb1ded22b78e40d009bdf008988ac')
    expect(toHex(witnessSighash(transaction, 0, script, 1_000_000_000n))).toBe(
      '0x64f3b0f4dd2bb3aa1ce8566d220cc74dda9df97d8490cc81d89d735c92e59fb6',
    )
  })

  it('include the witnesses that a legacy hash is given, as bitcoinj does', () => {
    const witnessed = new library.Transaction()
    witnessed.setWitness(witnessed.addInput(new Uint8Array(32), 0, 0, new Uint8Array(0)), [Uint8Array.of(9)])
    witnessed.addOutput(new Uint8Array(0), 1n)
    const bytes = witnessed.toBuffer()
    const transaction = decodeTransaction(bytes)
    expect(legacySighash(transaction, 0, new Uint8Array(0))).toEqual(
      doubleSha256(concat(bytes, Uint8Array.of(1, 0, 0, 0))),
    )
  })

  it('need an input', () => {
    const transaction = { version: 1, inputs: [], outputs: [], lockTime: 0 }
    expect(() => witnessSighash(transaction, 0, new Uint8Array(0), 0n)).toThrow(
      new RangeError('the transaction has no input 0'),
    )
  })
})
