/** Bitcoin transactions against bitcoinjs-lib; the rules of bitcoinj's `Transaction.verify`. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkTransaction,
  decodeTransaction,
  encodeStripped,
  encodeTransaction,
  hasWitness,
  isCoinbase,
  MAX_MONEY,
  readTransaction,
  type Transaction,
  txid,
  withoutWitness,
  wtxid,
} from '../../src/bitcoin/transaction.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex } from '../../src/encoding/hex.ts'
import { transactions } from './library.ts'

const input = (index = 0, hash = new Uint8Array(32).fill(1)) => ({
  hash,
  index,
  script: new Uint8Array(3),
  sequence: 0xffffffff,
  witness: [],
})
const NO_HASH = new Uint8Array(32)
const OUTPUT = { value: 5n, script: new Uint8Array(1) }
const ONE: Transaction = { version: 2, inputs: [input()], outputs: [OUTPUT], lockTime: 0 }

describe('the codec', () => {
  it('reads and writes the transactions of bitcoinjs-lib, and names them alike', () => {
    fc.assert(
      fc.property(transactions, (theirs) => {
        const bytes = theirs.toBuffer()
        const { transaction, size } = readTransaction(concat(bytes, Uint8Array.of(7)))
        expect(size).toBe(bytes.length)
        expect(encodeTransaction(transaction)).toEqual(new Uint8Array(bytes))
        expect(txid(transaction)).toEqual(new Uint8Array(theirs.getHash()))
        expect(wtxid(transaction)).toEqual(new Uint8Array(theirs.getHash(true)))
        const stripped = decodeTransaction(encodeStripped(transaction))
        expect(stripped).toEqual(withoutWitness(transaction))
        expect(hasWitness(stripped)).toBe(false)
      }),
      { numRuns: 60 },
    )
  })

  it('throws nothing but a RangeError on bytes that are cut off or random', () => {
    const attempt = (bytes: Uint8Array) => {
      try {
        decodeTransaction(bytes)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }
    fc.assert(
      fc.property(transactions, fc.nat(), (theirs, at) => {
        const bytes = theirs.toBuffer()
        expect(() => decodeTransaction(bytes.subarray(0, at % bytes.length))).toThrow(RangeError)
      }),
      { numRuns: 40 },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), attempt), { numRuns: 200 })
  })

  it('reserves no memory for counts that the bytes cannot hold', () => {
    for (const count of ['fdffff', 'feffffffff', 'ffffffffffffffffff', 'ff0000000000000080']) {
      expect(() => decodeTransaction(fromHex(`0x01000000${count}`))).toThrow(
        new RangeError('a count exceeds the bytes that follow'),
      )
    }
  })

  it('knows no other flags than that of the witness, and reads no inputs with flags 0 as an empty transaction', () => {
    expect(() => decodeTransaction(fromHex('0x010000000002'))).toThrow(
      new RangeError('unknown optional data of a transaction'),
    )
    expect(decodeTransaction(fromHex('0x01000000000005000000'))).toEqual({
      version: 1,
      inputs: [],
      outputs: [],
      lockTime: 5,
    })
  })
})

describe('the checks', () => {
  const check = (change: Partial<Transaction>, size = 100) => checkTransaction({ ...ONE, ...change }, size)
  const coinbase = (length: number) => ({ ...input(0xffffffff, NO_HASH), script: new Uint8Array(length) })

  it('accept a transaction of the largest size with all coins', () => {
    check({ outputs: [{ ...OUTPUT, value: MAX_MONEY }] }, 1_000_000)
    for (const length of [2, 100]) check({ inputs: [coinbase(length)] })
    expect(isCoinbase({ ...ONE, inputs: [coinbase(2)] })).toBe(true)
    expect(isCoinbase({ ...ONE, inputs: [coinbase(2), coinbase(2)] })).toBe(false)
  })

  it.each<[Partial<Transaction>, string]>([
    [{ inputs: [] }, 'no inputs or no outputs'],
    [{ outputs: [] }, 'no inputs or no outputs'],
    [{ inputs: [input(1), input(2), input(1)] }, 'two inputs spend the same output'],
    [{ outputs: [{ ...OUTPUT, value: -1n }] }, 'an output has a negative value'],
    [{ outputs: [OUTPUT, { ...OUTPUT, value: MAX_MONEY }] }, 'the outputs have more coins than there are'],
    [{ inputs: [coinbase(1)] }, 'a coinbase script of a wrong length'],
    [{ inputs: [coinbase(101)] }, 'a coinbase script of a wrong length'],
    [{ inputs: [input(), coinbase(2)] }, 'an input of a coinbase transaction'],
  ])('refuse %o', (change, message) => {
    expect(() => check(change)).toThrow(new RangeError(message))
  })

  it('refuse a transaction that is larger than a block', () => {
    expect(() => check({}, 1_000_001)).toThrow(new RangeError('larger than a block'))
  })
})
