import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Block,
  blockSize,
  decodeBlock,
  EMPTY_UNCLES_HASH,
  encodeBlock,
  transactionsRoot,
  unclesHash,
} from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { decodeHeader, encodeHeader, type Header } from '../../src/chain/header.ts'
import { remascTransaction, signTransaction } from '../../src/chain/transaction.ts'
import { binaryTrieRoot } from '../../src/encoding/binary-trie.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { decodeRlp, encodeRlp } from '../../src/encoding/rlp.ts'
import { headers } from '../support/arbitraries.ts'
import { fixture } from '../support/fixture.ts'

interface RemascOnly {
  readonly transactions: readonly { readonly blockNumber: number; readonly raw?: Hex; readonly hash: Hex }[]
  readonly transactionsRoots: Readonly<Record<string, Hex>>
}

const config = CHAINS.regtest
const reward = fixture<RemascOnly>('blocks/reward-only.json')
const key = keccak256(new TextEncoder().encode('cow'))

function transfers(count: number) {
  return Array.from({ length: count }, (_, nonce) =>
    signTransaction(
      {
        nonce: BigInt(nonce),
        gasPrice: 0n,
        gasLimit: 21_000n,
        to: '0x7986b3df570230288501eea3d890bd66948c9b79',
        value: 5n,
        data: new Uint8Array(0),
        chainId: config.chainId,
      },
      key,
    ),
  )
}

/** Only headers of the layout that the local network has, so that reading knows which it is. */
const localHeaders = headers.filter(({ version }) => version === 2)

describe('the roots of a block', () => {
  it.each(reward.transactions)(
    'knows the REMASC transaction of block $blockNumber',
    ({ blockNumber, raw, hash }) => {
      const transaction = remascTransaction(blockNumber)
      expect(keccakHex(transaction.raw)).toBe(hash)
      if (raw !== undefined) expect(toHex(transaction.raw)).toBe(raw)
    },
  )

  it.each(Object.entries(reward.transactionsRoots))(
    'has the transactions root of the empty block %s',
    (number, root) => {
      expect(transactionsRoot([remascTransaction(Number(number))])).toBe(root)
    },
  )

  it('has the transactions root of a real header', () => {
    const { full } = fixture<{ full: Hex }>('headers/testnet-64746.json')
    const header = decodeHeader(fromHex(full), CHAINS.testnet)
    expect(transactionsRoot([remascTransaction(header.number)])).toBe(header.transactionsRoot)
  })

  it('are computed from the bytes of the transactions', () => {
    for (const count of [1, 2, 3, 40]) {
      const list = transfers(count)
      expect(transactionsRoot(list)).toBe(binaryTrieRoot(list.map(({ raw }) => raw)))
    }
  })

  it('hashes the list of full uncle headers', () => {
    const { full } = fixture<{ full: Hex }>('headers/testnet-436.json')
    const uncle = decodeHeader(fromHex(full), CHAINS.testnet)
    expect(unclesHash([], config)).toBe(EMPTY_UNCLES_HASH)
    expect(keccakHex(fromHex('0xc0'))).toBe(EMPTY_UNCLES_HASH)
    expect(unclesHash([uncle, uncle], CHAINS.testnet)).toBe(
      keccakHex(encodeRlp([decodeRlp(fromHex(full)), decodeRlp(fromHex(full))])),
    )
  })
})

describe('a whole block', () => {
  it('encodes as a list of header, transactions and uncles, and decodes to the same block', () => {
    fc.assert(
      fc.property(
        localHeaders,
        fc.array(localHeaders, { maxLength: 2 }),
        fc.nat(2),
        (header, uncles, count) => {
          const transactions = [...transfers(count), remascTransaction(header.number)]
          const block: Block = { header, transactions, uncles }
          const bytes = encodeBlock(block, config)
          const full = (one: Header) => decodeRlp(encodeHeader(one, 'full', config.rulesAt(one.number)))
          const list = [full(header), transactions.map(({ raw }) => decodeRlp(raw)), uncles.map(full)]
          expect(toHex(bytes)).toBe(toHex(encodeRlp(list)))
          expect(blockSize(block, config)).toBe(bytes.length)

          const again = decodeBlock(bytes, config)
          expect(toHex(encodeBlock(again, config))).toBe(toHex(bytes))
          expect(again.transactions.map(({ hash, from, isRemasc }) => ({ hash, from, isRemasc }))).toEqual(
            transactions.map(({ hash, from, isRemasc }) => ({ hash, from, isRemasc })),
          )
        },
      ),
      { numRuns: 15 },
    )
  })

  it('has three items', () => {
    expect(() => decodeBlock(encodeRlp([[], []]), config)).toThrow(RangeError)
    expect(() => decodeBlock(fromHex('0xc0'), config)).toThrow(RangeError)
  })
})
