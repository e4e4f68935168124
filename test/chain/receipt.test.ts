import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ZERO_BLOOM } from '../../src/chain/bloom.ts'
import {
  decodeReceipt,
  encodeReceipt,
  type Receipt,
  readLogs,
  receiptsRoot,
} from '../../src/chain/receipt.ts'
import { BinaryTrie } from '../../src/encoding/binary-trie.ts'
import { fromBigInt } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { asBytes, asList, decodeRlp, encodeRlp } from '../../src/encoding/rlp.ts'
import { receipts } from '../support/arbitraries.ts'
import { fixture } from '../support/fixture.ts'

interface RemascOnly {
  readonly receiptPrefix: Hex
  readonly receiptSuffix: Hex
  readonly receiptsRoot: Hex
}

const reward: Receipt = {
  succeeded: true,
  type: 0,
  cumulativeGasUsed: 0n,
  gasUsed: 0n,
  logsBloom: ZERO_BLOOM,
  logs: [],
}

describe('receipts', () => {
  it('have the bytes and the root of a block with the REMASC transaction alone', () => {
    const vector = fixture<RemascOnly>('blocks/reward-only.json')
    const zeros = '00'.repeat(256)
    expect(toHex(encodeReceipt(reward))).toBe(vector.receiptPrefix + zeros + vector.receiptSuffix.slice(2))
    expect(receiptsRoot([reward])).toBe(vector.receiptsRoot)
    expect(decodeReceipt(encodeReceipt(reward))).toEqual({ ...reward, logsBloom: new Uint8Array(256) })
  })

  it('of failed transactions have an empty status, and an empty first field', () => {
    const list = asList(decodeRlp(encodeReceipt({ ...reward, succeeded: false })), 'receipt')
    expect(list).toHaveLength(6)
    expect(asBytes(list[0], 'state')).toHaveLength(0)
    expect(asBytes(list[5], 'status')).toHaveLength(0)
  })

  it('decode to the encoded receipts', () => {
    fc.assert(
      fc.property(receipts, (receipt) => {
        const again = decodeReceipt(encodeReceipt(receipt))
        const { logsBloom, ...rest } = again
        const { logsBloom: bloom, ...expected } = receipt
        expect(rest).toEqual(expected)
        expect(toHex(logsBloom)).toBe(toHex(bloom))
      }),
      { numRuns: 50 },
    )
  })

  it('give access to their logs without being decoded, at any offset in a buffer', () => {
    fc.assert(
      fc.property(receipts, fc.nat({ max: 9 }), (receipt, start) => {
        const bytes = Buffer.concat([new Uint8Array(start), encodeReceipt(receipt)])
        const logs = readLogs(bytes, start)
        expect(logs.map(({ address, topics, data }) => [address, topics, toHex(data)])).toEqual(
          receipt.logs.map(({ address, topics, data }) => [address, topics, toHex(data)]),
        )
        expect(logs.map(({ address, topics }) => [address, topics])).toEqual(
          receipt.logs.map(({ address, topics }) => [address, topics]),
        )
        expect(() => readLogs(bytes.subarray(0, start + 40), start)).toThrow(RangeError)
      }),
      { numRuns: 50 },
    )
  })

  it('are keyed in the receipts trie by their index', () => {
    fc.assert(
      fc.property(fc.array(receipts, { maxLength: 4 }), (list) => {
        const trie = new BinaryTrie()
        list.forEach((receipt, index) => {
          trie.put(encodeRlp(fromBigInt(BigInt(index))), encodeReceipt(receipt))
        })
        expect(receiptsRoot(list)).toBe(trie.root())
      }),
      { numRuns: 10 },
    )
  })

  it('are not decoded from anything else', () => {
    expect(() => decodeReceipt(fromHex('0xc0'))).toThrow(RangeError)
    expect(() => decodeReceipt(fromHex('0x01'))).toThrow(RangeError)
    expect(() => decodeReceipt(new Uint8Array(0))).toThrow(RangeError)
  })
})
