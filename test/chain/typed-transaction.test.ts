/** Typed transactions: random ones against `@ethereumjs/tx`, and bytes that are none. */
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import {
  createAccessList2930Tx,
  createEOACode7702Tx,
  createFeeMarket1559Tx,
  type TypedTransaction as LibraryTransaction,
} from '@ethereumjs/tx'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accessListBytes, accessListItems } from '../../src/chain/access-list.ts'
import { blockSize, decodeBlock, encodeBlock } from '../../src/chain/block.ts'
import { CHAINS, withRules } from '../../src/chain/config.ts'
import { intrinsicGas } from '../../src/chain/intrinsic-gas.ts'
import { chosenHeights } from '../../src/chain/rule-choice.ts'
import { RULE_HEIGHTS } from '../../src/chain/shipped-networks.ts'
import { addressOf } from '../../src/chain/signature.ts'
import {
  checkChainId,
  decodeBlockTransaction,
  decodeTransaction,
  encodedNonce,
  impersonatedSender,
  impersonatedTransaction,
  restoreTransaction,
  senderPublicKey,
  signTransaction,
  type UnsignedTransaction,
} from '../../src/chain/transaction.ts'
import { NAMESPACE, TYPE, typeText } from '../../src/chain/transaction-types.ts'
import { typedFields } from '../../src/chain/typed-transaction.ts'
import { concat, EMPTY, fromBigInt } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/encoding/rlp.ts'
import { fixedHex, headers } from '../support/arbitraries.ts'
import { saying } from '../support/refusals.ts'

/** Random transactions that are compared; `npm run fuzz:envelopes` takes more. */
const RUNS = Number(process.env.TYPED_TRANSACTIONS ?? 40)

const KEY = keccak256(new TextEncoder().encode('cow'))
const COW = addressOf(KEY)
const amount = fc.bigInt({ min: 0n, max: (1n << 120n) - 1n })
const nonce = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n })

const accessLists = fc.array(
  fc.record({ address: fixedHex(20), storageKeys: fc.array(fixedHex(32), { maxLength: 3 }) }),
  { maxLength: 3 },
)
const authorizations = fc.array(
  fc.record({
    chainId: fc.constantFrom(0n, 33n, 1n << 60n),
    address: fixedHex(20),
    nonce,
    yParity: fc.constantFrom(0, 1),
    r: fc.bigInt({ min: 1n, max: (1n << 255n) - 1n }),
    s: fc.bigInt({ min: 1n, max: (1n << 254n) - 1n }),
  }),
  { minLength: 1, maxLength: 3 },
)

interface Wanted {
  readonly type: 1 | 2 | 4
  readonly nonce: bigint
  readonly fees: readonly [priority: bigint, most: bigint]
  readonly gasLimit: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly chainId: number
  readonly accessList: { address: Hex; storageKeys: Hex[] }[]
  readonly authorizations: {
    chainId: bigint
    address: Hex
    nonce: bigint
    yParity: number
    r: bigint
    s: bigint
  }[]
}

const wanted: fc.Arbitrary<Wanted> = fc
  .record({
    type: fc.constantFrom(1, 2, 4),
    nonce,
    fees: fc.tuple(amount, amount).map(([a, b]) => (a < b ? ([a, b] as const) : ([b, a] as const))),
    gasLimit: fc.bigInt({ min: 0n, max: (1n << 60n) - 1n }),
    to: fc.option(fixedHex(20)),
    value: amount,
    data: fc.uint8Array({ maxLength: 300 }),
    chainId: fc.constantFrom(1, 30, 31, 33, 300, 2 ** 40),
    accessList: accessLists,
    authorizations,
  })
  .map((fields) => ({
    ...fields,
    type: fields.type as 1 | 2 | 4,
    to: fields.type === 4 ? (fields.to ?? COW) : fields.to,
  }))

function unsignedOf({ type, fees, accessList, authorizations, ...rest }: Wanted): UnsignedTransaction {
  const [maxPriorityFeePerGas, maxFeePerGas] = fees
  const prices = type === 1 ? {} : { maxPriorityFeePerGas, maxFeePerGas }
  const lists = type === 4 ? { accessList, authorizations } : { accessList }
  return { ...rest, type, gasPrice: maxPriorityFeePerGas, typed: typedFields({ ...lists, ...prices }) }
}

/** The library's transaction of the same fields, unsigned. */
function theirs({ type, fees, to, authorizations, ...rest }: Wanted): LibraryTransaction {
  const common = new Common({
    chain: { ...Mainnet, chainId: rest.chainId },
    hardfork: Hardfork.Prague,
  })
  const [priority, most] = fees
  const fields = { ...rest, ...(to !== null && { to }) }
  if (type === 1) return createAccessList2930Tx({ ...fields, gasPrice: priority }, { common })
  const market = { ...fields, maxPriorityFeePerGas: priority, maxFeePerGas: most }
  if (type === 2) return createFeeMarket1559Tx(market, { common })
  const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`
  const authorizationList = authorizations.map(({ address, ...tuple }) => ({
    chainId: hex(tuple.chainId),
    address,
    nonce: hex(tuple.nonce),
    yParity: hex(tuple.yParity),
    r: hex(tuple.r),
    s: hex(tuple.s),
  }))
  return createEOACode7702Tx({ ...market, authorizationList } as never, { common })
}

describe('typed transactions', () => {
  it('have the bytes, the hash and the sender of @ethereumjs/tx', () => {
    fc.assert(
      fc.property(wanted, (fields) => {
        const signed = theirs(fields).sign(KEY)
        const ours = signTransaction(unsignedOf(fields), KEY)
        expect(toHex(ours.raw)).toBe(toHex(signed.serialize()))
        expect(ours.hash).toBe(toHex(signed.hash()))
        const decoded = decodeTransaction(signed.serialize(), true)
        expect(decoded).toEqual(ours)
        expect(decoded).toMatchObject({
          from: COW,
          type: fields.type,
          gasPrice: fields.fees[0],
          nonce: fields.nonce,
          typed: { accessList: fields.accessList },
        })
        expect(restoreTransaction(ours.raw, ours.from)).toEqual(ours)
        expect(decodeBlockTransaction(ours.raw, true)).toEqual(ours)
        expect(toHex(encodedNonce(ours))).toBe(toHex(fromBigInt(fields.nonce)))
        expect(senderPublicKey(ours)).toHaveLength(64)
        expect(accessListBytes(fields.accessList)).toBe(encodeRlp(accessListItems(fields.accessList)).length)
      }),
      { numRuns: RUNS },
    )
  })

  it('of an impersonated sender carry it in place of a signature', () => {
    fc.assert(
      fc.property(wanted, fixedHex(20), (fields, from) => {
        const made = impersonatedTransaction(unsignedOf(fields), from)
        expect(impersonatedSender(made)).toBe(from)
        expect(senderPublicKey(made)).toBeUndefined()
        expect(made.hash).toBe(keccakHex(made.raw))
      }),
      { numRuns: 20 },
    )
  })

  it('are strings in the list of their block', () => {
    const config = withRules(CHAINS.regtest, chosenHeights(RULE_HEIGHTS.regtest, { rules: 'next' }))
    fc.assert(
      fc.property(headers, fc.array(wanted, { maxLength: 3 }), (header, list) => {
        const transactions = list.map((fields) => signTransaction(unsignedOf(fields), KEY))
        const block = { header: { ...header, number: 5 }, transactions, uncles: [] }
        const bytes = encodeBlock(block, config)
        const [, items] = decodeRlp(bytes) as readonly RlpItem[]
        expect(items).toEqual(transactions.map(({ raw }) => raw))
        expect(blockSize(block, config)).toBe(bytes.length)
        expect(decodeBlock(bytes, config).transactions).toEqual(transactions)
        if (list.length > 0) expect(() => decodeBlock(bytes, CHAINS.regtest)).toThrow('transaction must be')
      }),
      { numRuns: 20 },
    )
  })
})

const PLAIN: Wanted = {
  type: 2,
  nonce: 1n,
  fees: [3n, 5n],
  gasLimit: 21_000n,
  to: '0x7986b3df570230288501eea3d890bd66948c9b79',
  value: 1n,
  data: EMPTY,
  chainId: 33,
  accessList: [],
  authorizations: [{ chainId: 0n, address: COW, nonce: 0n, yParity: 0, r: 1n, s: 1n }],
}
const itemsOf = (fields: Wanted): RlpItem[] => [
  ...(decodeRlp(signTransaction(unsignedOf(fields), KEY).raw.subarray(1)) as readonly RlpItem[]),
]
/** The bytes of a type with an element replaced. */
const forged = (type: 1 | 2 | 4, at: number, item: RlpItem): Uint8Array => {
  const items = itemsOf({ ...PLAIN, type })
  items[at] = item
  return concat(Uint8Array.of(type), encodeRlp(items))
}
const refusalOf = (bytes: Uint8Array): string => {
  try {
    decodeTransaction(bytes, true)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'taken'
}

describe('intrinsic gas', () => {
  it('counts 80 gas for a byte of an access list that is not empty (RSKIP-546), and 25,000 for an authorization', () => {
    const gasOf = (fields: Partial<Wanted>) => {
      const { to, data, typed } = signTransaction(unsignedOf({ ...PLAIN, ...fields }), KEY)
      return intrinsicGas({ to, data, typed })
    }
    expect(gasOf({})).toBe(21_000n)
    // An entry without keys: c0 + 22 (d6 94 address c0) in a list.
    expect(gasOf({ accessList: [{ address: COW, storageKeys: [] }] })).toBe(21_000n + 80n * 24n)
    // With a key: f8 3a (f7 94 address e1 a0 key) in a list.
    expect(gasOf({ accessList: [{ address: COW, storageKeys: [`0x${'11'.repeat(32)}`] }] })).toBe(
      21_000n + 80n * BigInt(encodeRlp([[fromHex(COW), [new Uint8Array(32).fill(0x11)]]]).length),
    )
    expect(gasOf({ type: 4, authorizations: [...PLAIN.authorizations, ...PLAIN.authorizations] })).toBe(
      71_000n,
    )
  })
})

describe('what is no typed transaction', () => {
  // In the words of the reference node's branch rskip545.
  it.each<[Uint8Array, string]>([
    [fromHex('0x00c0'), 'Invalid transaction: transaction type not supported: 0x00'],
    [fromHex('0x05c0'), 'Invalid transaction: transaction type not supported: 0x05'],
    [fromHex('0x7fc0'), 'Invalid transaction: transaction type not supported: 0x7f'],
    [
      fromHex('0x03c0'),
      'Invalid transaction: Unsupported transaction type: StandardTyped[RSKIP558 (EIP-4844)]',
    ],
    [
      fromHex('0xff'),
      'Invalid transaction: Transaction type 0xff is reserved per EIP-2718 and cannot be used',
    ],
    [fromHex('0x01c0'), 'Invalid transaction: RSKIP546 (EIP-2930) transaction must have exactly 11 elements'],
    [fromHex('0x02c0'), 'Invalid transaction: RSKIP546 (EIP-1559) transaction must have exactly 12 elements'],
    [fromHex('0x04c0'), 'Invalid transaction: RSKIP545 (EIP-7702) transaction must have exactly 13 elements'],
    [forged(2, 0, EMPTY), 'Invalid transaction: Typed transaction chainId must not be zero or absent'],
    [forged(2, 1, new Uint8Array(33).fill(1)), 'Invalid transaction: Nonce is not valid'],
    [forged(1, 2, new Uint8Array(33).fill(1)), 'Invalid transaction: Gas Price is not valid'],
    [forged(2, 4, new Uint8Array(33).fill(1)), 'Invalid transaction: Gas Limit is not valid'],
    [forged(2, 6, Uint8Array.of(0, 1)), 'Invalid transaction: Value is not valid'],
    [
      forged(2, 2, Uint8Array.of(6)),
      'Invalid transaction: Type 2 transaction maxPriorityFeePerGas (6) must not exceed maxFeePerGas (5)',
    ],
    [forged(2, 8, EMPTY), 'Invalid transaction: Access list must be an RLP list'],
    [forged(2, 8, [[]]), 'Invalid transaction: Access list entry at index 0 must have exactly 2 elements'],
    [
      forged(1, 7, [[Uint8Array.of(1), []]]),
      'Invalid transaction: Access list entry address at index 0 must be exactly 20 bytes',
    ],
    [
      forged(1, 7, [[fromHex(COW), [Uint8Array.of(1)]]]),
      'Invalid transaction: Access list storage key at entry 0, key 0 must be exactly 32 bytes',
    ],
    [forged(2, 9, Uint8Array.of(2)), 'Invalid transaction: Typed transaction yParity must be 0 or 1, got: 2'],
    [forged(2, 10, EMPTY), 'Invalid transaction: Typed transaction signature is incomplete'],
    [forged(4, 5, EMPTY), 'Invalid transaction: Set-code transaction must have a non-null destination'],
    [forged(4, 9, []), 'Invalid transaction: Set-code transaction authorization_list must not be empty'],
    [forged(4, 9, [[]]), 'Invalid transaction: Authorization list tuple must have 6 fields'],
  ])('%#: %s', (bytes, message) => {
    expect(() => decodeTransaction(bytes, true)).toThrow(saying(message))
  })

  it('is refused as before where the chain takes none', () => {
    const { raw } = signTransaction(unsignedOf(PLAIN), KEY)
    expect(() => decodeTransaction(raw)).toThrow(
      'typed transactions (type 0x2) are not accepted by this chain, only legacy ones',
    )
  })

  it('is refused with a signature in the upper half, and for another chain', () => {
    const high = forged(2, 11, fromBigInt(2n ** 255n))
    expect(() => decodeTransaction(high, true)).toThrow('Invalid chainId: 33')
    const other = signTransaction(unsignedOf({ ...PLAIN, chainId: 31 }), KEY)
    expect(() => checkChainId(other, CHAINS.regtest)).toThrow('Invalid chainId: 31')
  })

  it('is refused where its RLP is not canonical', () => {
    const { raw } = signTransaction(unsignedOf(PLAIN), KEY)
    expect(refusalOf(concat(raw, Uint8Array.of(0)))).toContain('Invalid transaction: ')
    const long = concat(Uint8Array.of(2, 0xf9, 0, raw.length - 3), raw.subarray(3))
    expect(refusalOf(long)).toContain('Invalid transaction: ')
  })

  it('is never more than a refusal, whatever the bytes', () => {
    const sent = fc.tuple(wanted, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }))
    fc.assert(
      fc.property(sent, ([fields, changes]) => {
        const { raw } = signTransaction(unsignedOf(fields), KEY)
        const bytes = raw.slice()
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        try {
          const taken = decodeTransaction(bytes, true)
          expect(taken.hash).toBe(keccakHex(taken.raw))
          expect(restoreTransaction(taken.raw, taken.from)).toEqual(taken)
        } catch (error) {
          expect(error).toMatchObject({ kind: 'invalid-params' })
        }
      }),
      { numRuns: Number(process.env.FUZZED_ENVELOPES ?? 500) },
    )
  })
})

describe("transactions of the chain's namespace (RSKIP-543)", () => {
  const unsigned: UnsignedTransaction = {
    ...unsignedOf(PLAIN),
    gasPrice: 7n,
    type: NAMESPACE + 3,
    typed: undefined,
  }

  it('are legacy ones behind 02 and a byte below 80', () => {
    const made = signTransaction(unsigned, KEY)
    expect(toHex(made.raw.subarray(0, 2))).toBe('0x0203')
    expect(decodeTransaction(made.raw, true)).toEqual(made)
    expect(made).toMatchObject({
      from: COW,
      type: 0x203,
      typed: undefined,
      gasPrice: 7n,
      v: 101 + (made.v - 101),
    })
    expect(typeText(made.type)).toBe('0x0203')
    expect(typeText(TYPE.feeMarket)).toBe('0x2')
    // The prefix is signed: without it the bytes are those of another sender.
    expect(decodeTransaction(made.raw.subarray(2)).from).not.toBe(COW)
  })
})
