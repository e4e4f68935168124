/** Hostile data of the parent chain: every call ends, with a result or as a failure of the Bridge, and pays nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { multisig, withPrefix } from '../../../../../src/bitcoin/redeem-script.ts'
import { OP, push } from '../../../../../src/bitcoin/script.ts'
import { encodeTransaction, type Input } from '../../../../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../../../src/encoding/hex.ts'
import { dataOf } from '../calls.ts'
import { input, KEY, pushes, SIGNATURE, transactionOf } from './inputs.ts'
import { FEDERATION_SCRIPT, peggedBridge, rawOf } from './parent-blocks.ts'

const PAYMENT = { value: 500_000n, script: FEDERATION_SCRIPT }
const byKey = input({ script: pushes(SIGNATURE, KEY) })
const RAW = rawOf([byKey], [PAYMENT])
/** Transactions of a block of the tests. */
const MAX_LEAVES = 16
const LBC: Hex = `0x${'22'.repeat(20)}`
const ADDRESS: Hex = `0x6f${'33'.repeat(20)}`

const flyover = (bytes: Uint8Array, height: number, tree: Hex) =>
  dataOf(
    'registerFastBridgeBtcTransaction',
    toHex(bytes),
    BigInt(height),
    tree,
    `0x${'44'.repeat(32)}`,
    ADDRESS,
    LBC,
    ADDRESS,
    false,
  )

/** Registers each in one block, both ways. */
function registerAll(bridge: ReturnType<typeof peggedBridge>, list: readonly Uint8Array[]): void {
  for (let at = 0; at < list.length; at += MAX_LEAVES) {
    const part = list.slice(at, at + MAX_LEAVES)
    const { height, tree } = bridge.block(part.map(doubleSha256))
    for (const [i, bytes] of part.entries()) {
      const proof = tree(i)
      const result = bridge.raw(dataOf('registerBtcTransaction', toHex(bytes), BigInt(height), proof))
      expect(['0x', 'failure']).toContain(result)
      const paid = bridge.raw(flyover(bytes, height, proof), { caller: LBC, isTop: false })
      expect(paid).toMatch(/^0xf{60}[0-9a-f]{4}$/)
    }
  }
}

describe('bytes that a block proves', () => {
  it('of a transaction that is cut off anywhere are not paid', () => {
    const bridge = peggedBridge()
    registerAll(
      bridge,
      Array.from({ length: RAW.length }, (_, i) => RAW.slice(0, i)),
    )
    expect(bridge.transfers).toEqual([])
    // With more bytes behind it, it is the transaction.
    expect(bridge.register(concat(RAW, Uint8Array.of(0)))).toBe('0x')
    expect(bridge.transfers).toHaveLength(1)
    expect(bridge.register(RAW)).toBe('0x')
    expect(bridge.transfers).toHaveLength(1)
  })

  it('of a transaction that is larger than a block are refused', () => {
    const bridge = peggedBridge()
    const large = (bytes: number) =>
      rawOf(
        [input({ script: push(new Uint8Array(60_000)) })],
        [
          PAYMENT,
          ...Array.from({ length: 15 }, () => ({ value: 1n, script: new Uint8Array(60_000) })),
          { value: 1n, script: new Uint8Array(bytes) },
        ],
      )
    const missing = 1_000_000 - large(30_000).length + 30_000
    expect(large(missing)).toHaveLength(1_000_000)
    expect(bridge.register(large(missing))).toBe('0x')
    expect(bridge.register(large(missing + 1))).toBe('failure')
  })

  it('of 600 changed transactions are registered or fail', () => {
    const bridge = peggedBridge()
    const script = pushes(EMPTY, SIGNATURE, multisig(1, [KEY]))
    const raws = [
      RAW,
      rawOf([input({ script })], [PAYMENT]),
      encodeTransaction(transactionOf(input({ script: push(KEY), witness: [SIGNATURE, KEY] }), [PAYMENT])),
    ]
    const changed = fc
      .record({
        raw: fc.constantFrom(...raws),
        edits: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
      })
      .map(({ raw, edits }) => {
        const bytes = raw.slice()
        for (const [at, value] of edits) bytes[at % bytes.length] = value
        return bytes
      })
    const list = fc.sample(changed, { numRuns: 600, seed: 29 })
    for (let at = 0; at < list.length; at += MAX_LEAVES) {
      const part = list.slice(at, at + MAX_LEAVES)
      const { height, tree } = bridge.block(part.map(doubleSha256))
      for (const [i, bytes] of part.entries()) {
        const result = bridge.raw(dataOf('registerBtcTransaction', toHex(bytes), BigInt(height), tree(i)))
        expect(['0x', 'failure']).toContain(result)
      }
    }
    expect(bridge.transfers.length).toBeGreaterThan(0)
  })
})

describe('transactions of a million bytes', () => {
  const many = <T>(count: number, make: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i))
  const nested = concat(
    ...many(27_000, () => concat(push(new Uint8Array(32).fill(1)), Uint8Array.of(OP.DROP))),
    multisig(1, [KEY]),
  )
  const branches = concat(
    Uint8Array.of(OP.NOTIF),
    new Uint8Array(60_000).fill(OP.ELSE),
    Uint8Array.of(OP.CHECKMULTISIG, OP.ENDIF),
  )
  const empty = (index: number): Input => input({ index })

  it.each<[string, () => Uint8Array]>([
    ['24,000 inputs', () => rawOf(many(24_000, empty), [PAYMENT])],
    [
      '6,000 inputs that name the federation',
      () =>
        rawOf(
          many(6_000, (index) => input({ index, script: pushes(multisig(2, [KEY, KEY, KEY])) })),
          [PAYMENT],
        ),
    ],
    [
      '100,000 outputs',
      () => rawOf([byKey], [PAYMENT, ...many(100_000, () => ({ value: 0n, script: EMPTY }))]),
    ],
    [
      '30,000 payments',
      () =>
        rawOf(
          [byKey],
          many(30_000, () => PAYMENT),
        ),
    ],
    [
      '900,000 witness items',
      () =>
        encodeTransaction(
          transactionOf(input({ script: push(KEY), witness: many(900_000, () => EMPTY) }), [PAYMENT]),
        ),
    ],
    [
      'a script of 27,000 prefixes',
      () =>
        encodeTransaction(
          transactionOf(input({ script: push(KEY), witness: [EMPTY, EMPTY, nested] }), [PAYMENT]),
        ),
    ],
    ['a script of branches', () => rawOf([input({ script: pushes(EMPTY, SIGNATURE, branches) })], [PAYMENT])],
    [
      'an output of 900,000 operations',
      () => rawOf([byKey], [PAYMENT, { value: 0n, script: new Uint8Array(900_000).fill(OP.DUP) }]),
    ],
    [
      'a prefix within a prefix',
      () =>
        rawOf(
          [
            input({
              script: pushes(EMPTY, SIGNATURE, withPrefix(new Uint8Array(32).fill(2), multisig(1, [KEY]))),
            }),
          ],
          [PAYMENT],
        ),
    ],
  ])('with %s are registered or fail', (_, make) => {
    const bridge = peggedBridge()
    expect(['0x', 'failure']).toContain(bridge.register(make()))
  })
})

describe('10,000 changed calls', () => {
  it('fail or answer', () => {
    const bridge = peggedBridge()
    const leaves = [doubleSha256(EMPTY), doubleSha256(RAW)]
    const { height, header, tree } = bridge.block(leaves)
    const hash = toHex(doubleSha256(header).reverse())
    const zero: Hex = `0x${'00'.repeat(32)}`
    const calls = [
      dataOf('registerBtcTransaction', toHex(RAW), BigInt(height), tree(1)),
      flyover(RAW, height, tree(1)),
      dataOf('registerBtcCoinbaseTransaction', toHex(RAW), hash, tree(1), zero, zero),
      dataOf('getBtcTransactionConfirmations', toHex(doubleSha256(RAW).reverse()), hash, 1n, [
        toHex(doubleSha256(EMPTY).reverse()),
      ]),
      dataOf('receiveHeader', toHex(header)),
      dataOf('hasBtcBlockCoinbaseTransactionInformation', hash),
      dataOf('getBtcBlockchainBlockHeaderByHeight', BigInt(height)),
    ].map(fromHex)
    const words = fc.constantFrom(0, 1, 32, 64, 0x7fffffff, 0x80000000, 0xffffffff)
    const edit = fc.oneof(
      fc.record({ kind: fc.constant('byte' as const), at: fc.nat(), value: fc.nat(255) }),
      fc.record({ kind: fc.constant('word' as const), at: fc.nat(), value: words }),
      fc.record({ kind: fc.constant('length' as const), at: fc.nat(), value: fc.nat(64) }),
    )
    const apply = (
      data: Uint8Array,
      { kind, at, value }: { kind: string; at: number; value: number },
    ): Uint8Array => {
      if (kind === 'length')
        return at % 2 === 0 ? data.slice(0, at % data.length) : concat(data, new Uint8Array(value))
      const changed = data.slice()
      if (kind === 'byte') changed[4 + (at % (data.length - 4))] = value
      else if (data.length >= 36)
        new DataView(changed.buffer).setUint32(32 + 32 * (at % Math.floor((data.length - 4) / 32)), value)
      return changed
    }
    fc.assert(
      fc.property(
        fc.constantFrom(...calls),
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (call, edits, isTop) => {
          const data = edits.reduce(
            (bytes, change) => (bytes.length > 4 ? apply(bytes, change) : bytes),
            call,
          )
          // An answer, or the failure of the Bridge: every other error is thrown.
          expect(bridge.raw(toHex(data), { caller: LBC, isTop })).toMatch(/^(0x[0-9a-f]*|failure)$/)
        },
      ),
      { numRuns: 10_000 },
    )
    // All that was paid is the peg-in itself, once.
    expect(bridge.transfers.length).toBeLessThanOrEqual(1)
  })
})
