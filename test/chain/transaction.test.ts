import { Common, Mainnet } from '@ethereumjs/common'
import { createLegacyTx, createLegacyTxFromRLP } from '@ethereumjs/tx'
import { createAddressFromString } from '@ethereumjs/util'
import { Transaction as EthersTransaction, getCreateAddress, Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import rewards from '../../fixtures/chain/reward-transactions.json' with { type: 'json' }
import { CHAINS, REMASC_SENDER } from '../../src/chain/config.ts'
import { intrinsicGas } from '../../src/chain/intrinsic-gas.ts'
import { addressOf, CURVE_ORDER } from '../../src/chain/signature.ts'
import {
  checkChainId,
  contractAddress,
  decodeBlockTransaction,
  decodeTransaction,
  encodedNonce,
  impersonatedTransaction,
  remascTransaction,
  restoreTransaction,
  signTransaction,
  type UnsignedTransaction,
} from '../../src/chain/transaction.ts'
import { fromBigInt, fromBigIntFixed, toBigInt } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/encoding/rlp.ts'
import { saying } from '../support/refusals.ts'

const KEY = keccak256(new TextEncoder().encode('cow'))
const PLAIN: UnsignedTransaction = {
  nonce: 7n,
  gasPrice: 65_000_000n,
  gasLimit: 21_000n,
  to: '0x7986b3df570230288501eea3d890bd66948c9b79',
  value: 10n ** 18n,
  data: new Uint8Array(0),
  chainId: 33,
}

/** The elements of a signed transaction, some of them replaced, encoded again. */
function altered(changes: { readonly [element: number]: RlpItem }): Uint8Array {
  const elements = [...(decodeRlp(signTransaction(PLAIN, KEY).raw) as readonly RlpItem[])]
  for (const [index, item] of Object.entries(changes)) elements[Number(index)] = item
  return encodeRlp(elements)
}

function refusal(raw: Uint8Array): string {
  try {
    decodeTransaction(raw)
  } catch (error) {
    expect(error).toMatchObject({ kind: 'invalid-params' })
    return (error as Error).message
  }
  return 'accepted'
}

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)
const unsigned = fc.record({
  nonce: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  gasPrice: fc.bigInt({ min: 0n, max: 1n << 100n }),
  gasLimit: fc.bigInt({ min: 1n, max: (1n << 63n) - 1n }),
  to: fc.option(address),
  value: fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
  data: fc.uint8Array({ maxLength: 80 }),
  chainId: fc.constantFrom(0, 30, 31, 32, 33),
}) as fc.Arbitrary<UnsignedTransaction>
const key = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }).map((value) => fromBigIntFixed(value, 32))

describe('signing and decoding', () => {
  it('keeps every field and recovers the sender', () => {
    fc.assert(
      fc.property(unsigned, key, (wanted, key) => {
        const signed = signTransaction(wanted, key)
        expect(signed).toMatchObject({ ...wanted, from: addressOf(key), isRemasc: false })
        expect(signed.hash).toBe(keccakHex(signed.raw))
        expect(decodeTransaction(signed.raw)).toEqual(signed)
        expect(restoreTransaction(signed.raw, signed.from)).toEqual(signed)
        expect(decodeBlockTransaction(signed.raw, true)).toEqual(signed)
      }),
      { numRuns: 60 },
    )
  })

  it('agrees with @ethereumjs/tx on transactions with a gas price', () => {
    fc.assert(
      fc.property(unsigned, key, (wanted, key) => {
        fc.pre(wanted.chainId !== 0 && wanted.gasPrice > 0n && wanted.nonce < 2n ** 64n - 1n)
        const common = new Common({ chain: { ...Mainnet, chainId: wanted.chainId }, hardfork: 'berlin' })
        const { to, type: _, ...rest } = wanted
        const theirs = createLegacyTx(
          { ...rest, ...(to === null ? {} : { to: createAddressFromString(to) }) },
          { common },
        ).sign(key)
        const ours = signTransaction(wanted, key)
        expect(toHex(ours.raw)).toBe(toHex(theirs.serialize()))
        const back = createLegacyTxFromRLP(ours.raw, { common })
        expect(back.getSenderAddress().toString()).toBe(ours.from)
        expect(toHex(back.hash())).toBe(ours.hash)
      }),
      { numRuns: 40 },
    )
  })

  it('agrees with ethers, also on a price of zero, which ethers encodes as an empty string', async () => {
    await fc.assert(
      fc.asyncProperty(unsigned, key, async (wanted, key) => {
        fc.pre(wanted.chainId !== 0 && wanted.nonce < 1n << 53n)
        const raw = (await new Wallet(toHex(key)).signTransaction({
          type: 0,
          chainId: wanted.chainId,
          nonce: Number(wanted.nonce),
          gasPrice: wanted.gasPrice,
          gasLimit: wanted.gasLimit,
          to: wanted.to,
          value: wanted.value,
          data: toHex(wanted.data),
        })) as Hex
        const ours = decodeTransaction(fromHex(raw))
        expect(ours).toMatchObject({ ...wanted, from: addressOf(key) })
        expect(toHex(ours.raw)).toBe(raw)
        expect(ours.hash).toBe(EthersTransaction.from(raw).hash)
      }),
      { numRuns: 40 },
    )
  })

  it('decodes the example of EIP-155', () => {
    const raw = fromHex(
      '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    )
    expect(decodeTransaction(raw)).toMatchObject({
      from: '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f',
      chainId: 1,
      nonce: 9n,
    })
  })
})

describe('encodings that the chain rewrites', () => {
  const signedOver = (payload: readonly Uint8Array[]): Hex => keccakHex(encodeRlp(payload))

  it('hashes a nonce and a value of one zero byte as empty strings', () => {
    const zeros = signTransaction({ ...PLAIN, nonce: 0n, value: 0n }, KEY)
    const [, price, gas, to, , data, v, r, s] = decodeRlp(zeros.raw) as readonly Uint8Array[]
    const written = encodeRlp(
      [Uint8Array.of(0), price, gas, to, Uint8Array.of(0), data, v, r, s].map((item) => item as Uint8Array),
    )
    const decoded = decodeTransaction(written)
    expect(decoded).toEqual(zeros)
    expect(decoded.hash).not.toBe(keccakHex(written))
  })

  it('distinguishes an absent price from a price of zero, in the bytes and in the sender', () => {
    const zero = signTransaction({ ...PLAIN, gasPrice: 0n }, KEY)
    const elements = decodeRlp(zero.raw) as readonly Uint8Array[]
    expect(elements[1]).toEqual(Uint8Array.of(0))
    const absent = decodeTransaction(
      encodeRlp(elements.map((item, i) => (i === 1 ? new Uint8Array(0) : item))),
    )
    expect(absent.gasPrice).toBe(0n)
    expect(absent.hash).not.toBe(zero.hash)
    expect(absent.from).not.toBe(zero.from)
  })

  it('drops leading zeros of price, value, r and s, and keeps those of nonce and gas', () => {
    const padded = (bytes: Uint8Array) => Uint8Array.of(0, ...bytes)
    const signed = signTransaction(PLAIN, KEY)
    const [nonce, price, gas, , value, , , r, s] = decodeRlp(signed.raw) as readonly Uint8Array[]
    const pad = (bytes: Uint8Array | undefined) => padded(bytes as Uint8Array)
    expect((r as Uint8Array).length + (s as Uint8Array).length).toBeLessThan(65)
    const minimal = decodeTransaction(altered({ 1: pad(price), 4: pad(value) }))
    expect(minimal).toEqual(signed)
    const kept = decodeTransaction(altered({ 0: pad(nonce), 2: pad(gas) }))
    expect(kept).toMatchObject({ nonce: signed.nonce, gasLimit: signed.gasLimit })
    expect(kept.hash).not.toBe(signed.hash)
    expect(kept.from).not.toBe(signed.from)
    expect(encodedNonce(kept)).toEqual(Uint8Array.of(0, 7))
    expect(encodedNonce(signed)).toEqual(Uint8Array.of(7))
  })

  it.each([7, 8])('drops a leading zero of signature element %d', (element) => {
    const itemOf = ({ raw }: { raw: Uint8Array }) =>
      (decodeRlp(raw) as readonly Uint8Array[])[element] as Uint8Array
    let signed = signTransaction(PLAIN, KEY)
    for (let nonce = 1n; itemOf(signed).length === 32; nonce++) {
      signed = signTransaction({ ...PLAIN, nonce }, KEY)
    }
    const elements = [...(decodeRlp(signed.raw) as readonly RlpItem[])]
    elements[element] = Uint8Array.of(0, ...itemOf(signed))
    expect(decodeTransaction(encodeRlp(elements))).toEqual(signed)
  })

  it('reads V 34 to 36 as unprotected, and writes 27 or 28', () => {
    const signed = signTransaction({ ...PLAIN, chainId: 0 }, KEY)
    const elements = decodeRlp(signed.raw) as readonly Uint8Array[]
    const withV = (v: number) => encodeRlp(elements.map((item, i) => (i === 6 ? Uint8Array.of(v) : item)))
    const even = signed.v === 28
    expect(decodeTransaction(withV(even ? 34 : 35))).toEqual(signed)
    expect(decodeTransaction(withV(even ? 36 : 35)).hash).toBe(signed.hash)
    expect(signedOver(elements)).toBe(signed.hash)
  })
})

describe('refusals', () => {
  it.each([
    ['0x', 'Invalid raw transaction: it is empty'],
    ['0x80', 'Invalid raw transaction: it is not an RLP list'],
    ['0xc0', 'Invalid raw transaction: it must have exactly 9 elements, not 0'],
    [
      '0xf86c0985',
      "Invalid input: The RLP byte array doesn't have enough space to hold an element with the specified length",
    ],
    [
      '0xc285ff',
      "Invalid input: The RLP byte array doesn't have enough space to hold an element with the specified length",
    ],
  ] as const)('%s', (raw, message) => {
    expect(refusal(fromHex(raw))).toBe(message)
  })

  it.each([1, 2, 3, 4])('a typed envelope: %d', (type) => {
    expect(refusal(Uint8Array.of(type, ...signTransaction(PLAIN, KEY).raw))).toBe(
      `Invalid raw transaction: typed transactions (type 0x${type}) are not accepted by this chain, only legacy ones`,
    )
  })

  it('bytes after the list', () => {
    expect(refusal(Uint8Array.of(...signTransaction(PLAIN, KEY).raw, 0))).toBe(
      'Invalid input: invalid RLP: remainder must be zero',
    )
  })

  it('a receiver that is not an address, with the position in the encoding', () => {
    const raw = altered({ 3: new Uint8Array(19) })
    expect(refusal(raw)).toBe(
      `invalid argument 0: hex string has length ${raw.length * 2}, want 40 for RSK address`,
    )
  })

  it('no gas limit', () => {
    expect(refusal(altered({ 2: new Uint8Array(0) }))).toBe('Missing parameter, gasPrice, gas or value')
  })

  it('a list in place of a string, and a number beyond 32 bytes, by name', () => {
    expect(refusal(altered({ 5: [] }))).toBe('Invalid raw transaction: data must not be a list')
    expect(refusal(altered({ 4: new Uint8Array(33) }))).toBe(
      'Invalid raw transaction: value is longer than 32 bytes',
    )
  })

  it('V with a leading zero, or of more than six bytes', () => {
    const message = 'Invalid raw transaction: V must be a number of 1 to 6 bytes without leading zeros'
    expect(refusal(altered({ 6: Uint8Array.of(0, 101) }))).toBe(message)
    expect(refusal(altered({ 6: new Uint8Array(7).fill(1) }))).toBe(message)
  })

  it('an unsigned transaction, and signatures out of range, with the chain id', () => {
    const none = new Uint8Array(0)
    expect(refusal(altered({ 6: none, 7: none, 8: none }))).toBe('Invalid chainId: 0')
    expect(refusal(altered({ 7: none }))).toBe('Invalid chainId: 33')
    expect(refusal(altered({ 7: fromBigInt(CURVE_ORDER) }))).toBe('Invalid chainId: 33')
    expect(refusal(altered({ 8: none }))).toBe('Invalid chainId: 33')
    expect(refusal(altered({ 6: Uint8Array.of(0), 8: none }))).toBe('Invalid chainId: -17')
  })

  it('s in the upper half, and exactly half', () => {
    const { s, v } = signTransaction(PLAIN, KEY)
    const flipped = altered({ 6: Uint8Array.of(v === 101 ? 102 : 101), 8: fromBigInt(CURVE_ORDER - s) })
    expect(refusal(flipped)).toBe('Invalid chainId: 33')
    expect(refusal(altered({ 8: fromBigInt(CURVE_ORDER / 2n) }))).toBe('Invalid chainId: 33')
    expect(refusal(altered({ 8: fromBigInt(CURVE_ORDER / 2n - 1n) }))).toBe('accepted')
  })

  it('never anything but invalid-params, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        expect(refusal(bytes)).not.toBe('')
      }),
    )
  })
})

describe('checkChainId', () => {
  it('takes unprotected transactions and those of this network', () => {
    for (const chainId of [0, 33]) {
      expect(() => checkChainId(signTransaction({ ...PLAIN, chainId }, KEY), CHAINS.regtest)).not.toThrow()
    }
  })

  it('names a foreign id', () => {
    const foreign = signTransaction({ ...PLAIN, chainId: 31 }, KEY)
    expect(() => checkChainId(foreign, CHAINS.regtest)).toThrow(saying('Invalid chainId: 31'))
  })
})

describe('the REMASC transaction', () => {
  it.each(rewards)('of block $block has its hash', ({ block, raw, hash }) => {
    const reward = remascTransaction(block)
    expect(toHex(reward.raw)).toBe(raw)
    expect(reward.hash).toBe(hash)
    expect(reward).toMatchObject({ from: REMASC_SENDER, nonce: BigInt(block) - 1n, v: 0, isRemasc: true })
    expect(decodeBlockTransaction(reward.raw, true)).toEqual(reward)
    expect(restoreTransaction(reward.raw, REMASC_SENDER)).toEqual(reward)
  })

  it('is only valid as the last one, and cannot be sent', () => {
    const { raw } = remascTransaction(1)
    expect(() => decodeBlockTransaction(raw, false)).toThrow(saying('Invalid chainId: 0'))
    expect(() => decodeTransaction(raw)).toThrow(saying('Invalid chainId: 0'))
  })
})

describe('contractAddress', () => {
  it('agrees with ethers', () => {
    fc.assert(
      fc.property(address, fc.bigInt({ min: 0n, max: (1n << 53n) - 1n }), (from, nonce) => {
        expect(contractAddress(from, nonce)).toBe(getCreateAddress({ from, nonce }).toLowerCase())
      }),
      { numRuns: 50 },
    )
  })
})

describe('intrinsicGas', () => {
  it.each([
    ['a transfer', '0x7986b3df570230288501eea3d890bd66948c9b79', '0x', 21_000n],
    [
      'a call with data',
      '0x7986b3df570230288501eea3d890bd66948c9b79',
      '0x00ff0001',
      21_000n + 2n * 4n + 2n * 16n,
    ],
    ['an empty creation', null, '0x', 53_000n],
    ['a creation of one word', null, '0x01', 53_000n + 16n + 2n],
    ['a creation of two words', null, `0x${'00'.repeat(33)}`, 53_000n + 33n * 4n + 4n],
  ] as const)('%s', (_, to, data, gas) => {
    expect(intrinsicGas({ to, data: fromHex(data) })).toBe(gas)
  })
})

it('reads quantities as unsigned', () => {
  const value = fromHex(`0x${'ff'.repeat(32)}`)
  expect(decodeTransaction(altered({ 4: value })).value).toBe(toBigInt(value))
})

describe('a transaction of long data', () => {
  const long = Uint8Array.from({ length: 20_000 }, (_, i) => i * 7)
  const signed = signTransaction({ ...PLAIN, to: null, data: long }, KEY)

  it('has the signed bytes and data', () => {
    const read = decodeTransaction(signed.raw.slice())
    expect(read).toEqual(signed)
    expect(read.data).toEqual(long)
    const common = new Common({ chain: { ...Mainnet, chainId: PLAIN.chainId }, hardfork: 'berlin' })
    expect(createLegacyTxFromRLP(read.raw, { common }).data).toEqual(long)
  })

  it('holds no reference to a larger array that it was read from', () => {
    const request = new Uint8Array(signed.raw.length + 100)
    request.set(signed.raw, 50)
    const read = decodeTransaction(request.subarray(50, 50 + signed.raw.length))
    request.fill(0xee)
    expect(read).toEqual(signed)
    expect(read.raw.buffer.byteLength).toBe(read.raw.length)
  })

  it('has the signed data when its encoding differs from the hashed one', () => {
    const elements = [...(decodeRlp(signed.raw) as readonly Uint8Array[])]
    elements[4] = Uint8Array.of(0, ...(elements[4] as Uint8Array))
    const read = restoreTransaction(encodeRlp(elements), signed.from)
    expect(read).toEqual(signed)
  })
})

describe('a transaction of an impersonated sender', () => {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)

  it('has a different hash for each sender and content, and decodes from its bytes', () => {
    fc.assert(
      fc.property(address, address, fc.nat(9), fc.nat(9), (one, other, first, second) => {
        const [a, b] = [
          impersonatedTransaction({ ...PLAIN, nonce: BigInt(first) }, one),
          impersonatedTransaction({ ...PLAIN, nonce: BigInt(second) }, other),
        ]
        expect(a.hash === b.hash).toBe(one === other && first === second)
        expect(a).toMatchObject({ from: one, nonce: BigInt(first), data: PLAIN.data, isRemasc: false })
        expect(restoreTransaction(a.raw, one)).toEqual(a)
        expect(a.hash).toBe(keccakHex(a.raw))
      }),
    )
  })

  it('has a different hash from the same transaction with a signature', () => {
    const signed = signTransaction(PLAIN, KEY)
    expect(impersonatedTransaction(PLAIN, signed.from).hash).not.toBe(signed.hash)
  })
})
