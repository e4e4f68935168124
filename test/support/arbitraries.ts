/** Random protocol values for property tests. */
import fc from 'fast-check'
import type { Header } from '../../src/chain/header.ts'
import type { Log, Receipt } from '../../src/chain/receipt.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'

/** Byte strings of up to `max` bytes. */
export function bytes(max: number): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ maxLength: max })
}

/** Byte strings of exactly `length` bytes. */
export function fixedBytes(length: number): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: length, maxLength: length })
}

/** `0x` text of exactly `length` bytes. */
export function fixedHex(length: number): fc.Arbitrary<Hex> {
  return fixedBytes(length).map(toHex)
}

const amount = fc.bigInt({ min: 0n, max: (1n << 96n) - 1n })
const small = fc.nat(0x7fff_ffff)

const common = {
  parentHash: fixedHex(32),
  unclesHash: fixedHex(32),
  coinbase: fixedHex(20),
  stateRoot: fixedHex(32),
  transactionsRoot: fixedHex(32),
  receiptsRoot: fixedHex(32),
  logsBloom: fixedBytes(256),
  difficulty: amount,
  number: fc.integer({ min: 1, max: 0x7fff_ffff }),
  gasLimit: amount,
  gasUsed: amount,
  timestamp: small,
  extraData: bytes(32),
  paidFees: amount,
  minimumGasPrice: amount,
  uncleCount: fc.nat(300),
}

const edges = fc.array(fc.nat(0xffff), { maxLength: 2 })

const body = fc.oneof(
  fc.record({
    ...common,
    version: fc.constant(0 as const),
    ummRoot: fc.constantFrom(undefined, EMPTY),
    edges: fc.constant(undefined),
    baseEvent: fc.constant(undefined),
  }),
  fc.record({
    ...common,
    version: fc.constant(1 as const),
    ummRoot: fc.constant(EMPTY),
    edges,
    baseEvent: fc.constant(undefined),
  }),
  fc.record({
    ...common,
    version: fc.constant(2 as const),
    ummRoot: fc.oneof(fc.constant(EMPTY), fixedBytes(20)),
    edges,
    baseEvent: bytes(128),
  }),
)

const proof = fc.oneof(
  fc.constant({ bitcoinHeader: EMPTY, merkleProof: EMPTY, coinbaseTransaction: EMPTY }),
  fc.record({
    bitcoinHeader: fixedBytes(80),
    merkleProof: fc.constantFrom(EMPTY, new Uint8Array(64).fill(7)),
    coinbaseTransaction: bytes(200),
  }),
)

/** Headers of every version, with and without a (meaningless) proof. */
export const headers: fc.Arbitrary<Header> = fc
  .tuple(body, proof)
  .map(([fields, ending]) => ({ ...fields, ...ending }))

/** Logs with up to four topics. */
export const logs: fc.Arbitrary<Log> = fc.record({
  address: fixedHex(20),
  topics: fc.array(fixedHex(32), { maxLength: 4 }),
  data: bytes(100),
})

/** Receipts whose bloom is independent of their logs. */
export const receipts: fc.Arbitrary<Receipt> = fc.record({
  succeeded: fc.boolean(),
  type: fc.constant(0),
  cumulativeGasUsed: amount,
  gasUsed: amount,
  logsBloom: fixedBytes(256),
  logs: fc.array(logs, { maxLength: 3 }),
})
