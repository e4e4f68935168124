/** Scripts, destinations and addresses against bitcoinjs-lib. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeAddress,
  formatAddress,
  MAIN_VERSIONS,
  parseAddress,
  TEST_VERSIONS,
} from '../../src/bitcoin/address.ts'
import {
  type Destination,
  destinationOf,
  isPayToScriptHash,
  outputScript,
  toScript,
  toWitnessKey,
  toWitnessScript,
} from '../../src/bitcoin/output-script.ts'
import {
  countOf,
  parseScript,
  push,
  pushCount,
  tryParseScript,
  writeChunks,
} from '../../src/bitcoin/script.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { library, someBytes } from './library.ts'

const destinations: fc.Arbitrary<Destination> = fc.record({
  kind: fc.constantFrom('publicKeyHash' as const, 'scriptHash' as const),
  hash: fc.uint8Array({ minLength: 20, maxLength: 20 }),
})

describe('scripts', () => {
  it('have the operations that bitcoinjs-lib finds, and are written back as they were', () => {
    fc.assert(
      fc.property(someBytes(100), (script) => {
        const chunks = tryParseScript(script)
        const theirs = library.script.decompile(script)
        if (chunks === undefined) {
          expect(theirs).toBeNull()
          return
        }
        expect(writeChunks(chunks)).toEqual(script)
        expect(chunks).toHaveLength(theirs?.length ?? -1)
      }),
      { numRuns: 300 },
    )
  })

  it('push data by their length', () => {
    for (const [length, head] of [
      [0, [0]],
      [75, [75]],
      [76, [0x4c, 76]],
      [256, [0x4d, 0, 1]],
    ] as const) {
      const script = push(new Uint8Array(length).fill(1))
      expect([...script.subarray(0, head.length)]).toEqual(head)
      expect(parseScript(script)[0]?.data).toHaveLength(length)
    }
    expect(() => push(new Uint8Array(65_536))).toThrow(new RangeError('too long to be pushed'))
    expect(parseScript(concat(Uint8Array.of(0x4e, 2, 0, 0, 0), Uint8Array.of(5, 6)))[0]?.data).toEqual(
      Uint8Array.of(5, 6),
    )
    expect(() => parseScript(Uint8Array.of(2, 1))).toThrow(new RangeError('the bytes end too early'))
  })

  it('write counts from 16 on as bytes, and read every number that is not negative in its shortest form', () => {
    expect([...pushCount(0), ...pushCount(1), ...pushCount(15)]).toEqual([0, 0x51, 0x5f])
    expect([...pushCount(16), ...pushCount(20), ...pushCount(128)]).toEqual([1, 16, 1, 20, 2, 128, 0])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (value) => {
        const chunk = { opcode: 4, data: library.script.number.encode(value) }
        expect(countOf(chunk)).toBe(value)
      }),
    )
    expect(countOf({ opcode: 0x60 })).toBe(16)
    expect(countOf({ opcode: 0x4f })).toBeUndefined()
    expect(countOf({ opcode: 0xac })).toBeUndefined()
    for (const data of [[0x81], [1, 0], [1, 1, 1, 1, 1]]) {
      expect(countOf({ opcode: data.length, data: Uint8Array.from(data) })).toBeUndefined()
    }
    for (const data of [[], [0]]) {
      expect(() => countOf({ opcode: data.length, data: Uint8Array.from(data) })).toThrow(
        new RangeError('not a number'),
      )
    }
  })
})

describe('destinations and addresses', () => {
  it('have the scripts and texts of bitcoinjs-lib', () => {
    fc.assert(
      fc.property(destinations, (destination) => {
        const script = outputScript(destination)
        expect(destinationOf(script)).toEqual(destination)
        expect(isPayToScriptHash(script)).toBe(destination.kind === 'scriptHash')
        for (const [versions, network] of [
          [TEST_VERSIONS, library.networks.regtest],
          [MAIN_VERSIONS, library.networks.bitcoin],
        ] as const) {
          const text = formatAddress(destination, versions)
          expect(library.address.toOutputScript(text, network)).toEqual(script)
          const payload = parseAddress(text, versions)
          expect(payload && decodeAddress(payload, versions)).toEqual(destination)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('of witness programs are those of bitcoinjs-lib', () => {
    const network = library.networks.regtest
    const pubkey = secp256k1.getPublicKey(new Uint8Array(32).fill(3))
    const output = library.payments.p2ms({ m: 1, pubkeys: [pubkey], network }).output
    const address = (redeem: { output: Uint8Array }) => library.payments.p2sh({ redeem, network }).address
    expect(formatAddress(toScript(output), TEST_VERSIONS)).toBe(address({ output }))
    expect(formatAddress(toWitnessScript(output), TEST_VERSIONS)).toBe(
      address(library.payments.p2wsh({ redeem: { output }, network })),
    )
    expect(formatAddress(toWitnessKey(pubkey), TEST_VERSIONS)).toBe(
      address(library.payments.p2wpkh({ pubkey, network })),
    )
  })

  it('are nothing for other scripts, bytes and texts', () => {
    expect(destinationOf(Uint8Array.of(0x6a))).toBeUndefined()
    expect(destinationOf(Uint8Array.of(0x76, 0xa9, 1, 1, 0x88, 0xac))).toBeUndefined()
    expect(() => destinationOf(Uint8Array.of(5, 1))).toThrow(new RangeError('the bytes end too early'))
    expect(decodeAddress(new Uint8Array(21), TEST_VERSIONS)).toBeUndefined()
    expect(decodeAddress(new Uint8Array(20).fill(111), TEST_VERSIONS)).toBeUndefined()
    for (const text of ['', 'n', '39AHNvUmzaYgewA8yCtBtNsfRz7QD7ZJYi', 'n'.repeat(201)]) {
      expect(parseAddress(text, TEST_VERSIONS)).toBeUndefined()
    }
  })
})
