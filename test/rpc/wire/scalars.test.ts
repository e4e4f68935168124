/** The scalar parameters and the texts that refuse them (docs/internals/rpc-reference.md#3-parameter-types). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import {
  Address,
  BlockHash,
  Data,
  Flag,
  Index,
  Quantity,
  Topic,
  TransactionHash,
  wholeNumber,
} from '../../../src/rpc/wire/scalars.ts'
import { refusals, saying } from '../../support/refusals.ts'

const ADDRESS = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

describe('Address', () => {
  it('is 20 bytes of any case, with or without 0x', () => {
    for (const text of [ADDRESS, ADDRESS.slice(2), ADDRESS.slice(2).toUpperCase()]) {
      expect(Address.read(text, 'address')).toBe(ADDRESS)
    }
  })

  refusals(Address, [
    ['0x1234', 'Invalid address: null, empty or invalid hex value.'],
    ['', 'Invalid address: null, empty or invalid hex value.'],
    [null, 'Invalid address: null, empty or invalid hex value.'],
    [5, 'Invalid address: null, empty or invalid hex value.'],
    [`${ADDRESS}0`, 'Invalid address: null, empty or invalid hex value.'],
    [ADDRESS.slice(0, -1), 'Invalid address format: invalid hex value.'],
    [`${ADDRESS.slice(2)}0`, 'Invalid address format: invalid hex value.'],
    [`0xZZ${'0'.repeat(38)}`, 'Invalid address format: invalid hex value.'],
    [`0X${ADDRESS.slice(2)}`, 'Invalid address format: invalid hex value.'],
  ])
})

describe('hashes', () => {
  it('may lack 0x and one leading zero', () => {
    const hash: Hex = `0x0${'a'.repeat(63)}`
    for (const text of [hash, hash.slice(2), hash.toUpperCase().replace('0X', '0x'), `0x${'a'.repeat(63)}`]) {
      expect(BlockHash.read(text, 'blockHash')).toBe(hash)
    }
  })

  refusals(BlockHash, [
    ['0x12', 'Invalid block hash: incorrect length.'],
    // eth_getBlockByHash of null in fixtures/reference-node/rpc/all.json.gz, there with blockHash as the name
    [null, 'parameter is null'],
    [`0x${'a'.repeat(62)}`, 'Invalid block hash: incorrect length.'],
    ['a'.repeat(66), 'Invalid block hash: incorrect length.'],
    [`0x${'g'.repeat(64)}`, 'Invalid block hash format: invalid hex value'],
  ])
  refusals(TransactionHash, [
    ['0x12', 'Invalid transaction hash: incorrect length.'],
    ['z'.repeat(64), 'Invalid transaction hash format: invalid hex value'],
  ])
  refusals(Topic, [
    ['0x11', 'Invalid topic: incorrect length.'],
    ['z'.repeat(64), 'Invalid topic format: invalid hex value'],
  ])
})

describe('Data', () => {
  it.each([
    ['0x', '0x'],
    ['', '0x'],
    ['0xAbC', '0x0abc'],
    ['ff', '0xff'],
  ])('reads %j as %s', (text, hex) => {
    expect(toHex(Data.read(text, 'data'))).toBe(hex)
  })

  it('has any length, and decodes to its bytes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 900, max: 1200 }),
        fc.constantFrom('', '0x'),
        fc.nat(255),
        (count, prefix, first) => {
          const bytes = Uint8Array.from({ length: count }, (_, i) => first + i * 7)
          const digits = toHex(bytes).slice(2)
          expect(toHex(Data.read(`${prefix}${digits}`, 'data'))).toBe(`0x${digits}`)
          expect(toHex(Data.read(`${prefix}${digits.toUpperCase()}`, 'data'))).toBe(`0x${digits}`)
          expect(toHex(Data.read(`${prefix}${digits.slice(1)}`, 'data'))).toBe(`0x0${digits.slice(1)}`)
        },
      ),
    )
  })

  it('has only hex digits, at any length', () => {
    // Their lowest bytes are digits: of such characters the decoder of Node.js reads no more.
    const others = ['g', 'x', ' ', '\0', '\u00e9', '\u0130', '\u0161', '\ud83d\ude30']
    const place = fc.nat({ max: 2999 })
    fc.assert(
      fc.property(
        place,
        fc.constantFrom(...others),
        fc.constantFrom('', '0x', '0X', '0x0'),
        (at, other, prefix) => {
          const text = `${prefix}${'ab'.repeat(1500).slice(0, at)}${other}${'ab'.repeat(1500).slice(at + 1)}`
          expect(() => Data.read(text, 'data')).toThrow(saying('Invalid data format: invalid hex value.'))
        },
      ),
    )
  })

  refusals(Data, [
    ['0xzz', 'Invalid data format: invalid hex value.'],
    ['0x0x', 'Invalid data format: invalid hex value.'],
    [null, 'Invalid parameter: expected hex text.'],
    [5, 'Invalid parameter: expected hex text.'],
  ])
})

describe('Quantity', () => {
  it('is hex with 0x, decimal text, or a JSON integer', () => {
    for (const form of ['0x2a', '0x02A', '42', 42]) expect(Quantity.read(form, 'value')).toBe(42n)
    expect(Quantity.read(`0x${'f'.repeat(64)}`, 'value')).toBe(2n ** 256n - 1n)
  })

  it('is decoded from its own encoding', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 66n - 1n }), (value) => {
        expect(Quantity.read(value.toString(), 'value')).toBe(value)
        if (value < 2n ** 256n) expect(Quantity.read(`0x${value.toString(16)}`, 'value')).toBe(value)
      }),
    )
  })

  refusals(Quantity, [
    ['abc g', 'Invalid param abc g: value must be a valid hex or string number.'],
    ['', 'Invalid param : value must be a valid hex or string number.'],
    ['0x', 'Invalid param 0x: value must be a valid hex or string number.'],
    ['-1', 'Invalid param -1: value must be a valid hex or string number.'],
    [1.5, 'Invalid param 1.5: value must be a valid hex or string number.'],
    ['abc', 'Number values should not contain letters or hex values should start with 0x.'],
    ['1'.repeat(67), `Invalid param: ${'1'.repeat(66)}...`],
    [null, 'Invalid parameter: expected a hex or decimal number.'],
    [{}, 'Invalid parameter: expected a hex or decimal number.'],
  ])
})

describe('Index', () => {
  it('is lower-case hex of up to 31 bits', () => {
    expect(Index.read('0x0', 'index')).toBe(0)
    expect(Index.read('0x7fffffff', 'index')).toBe(0x7fff_ffff)
  })

  refusals(Index, [
    ['0', 'Invalid argument "0": param should be a hex value string.'],
    ['0xA', 'Invalid argument "0xA": param should be a hex value string.'],
    ['0x', 'Invalid index param: value must be a valid hex number.'],
    ['', 'Invalid index param: value must be a valid hex number.'],
    ['0x80000000', 'Invalid index param: value must be a valid hex number.'],
    [`0x${'1'.repeat(65)}`, `Invalid argument: 0x${'1'.repeat(64)}...`],
    // eth_getTransactionByBlockNumberAndIndex in fixtures/reference-node/rpc/all.json.gz
    [0, 'Invalid argument "0": param should be a hex value string.'],
    [null, 'Invalid parameter: expected a hex number as text.'],
  ])
})

describe('Flag', () => {
  it.each([
    [true, true],
    ['true', true],
    [1, true],
    [false, false],
    ['false', false],
    [0, false],
  ])('reads %j as %s', (given, flag) => {
    expect(Flag.read(given, 'flag')).toBe(flag)
  })

  refusals(Flag, [
    ['yes', 'Invalid parameter: expected true or false.'],
    ['', 'Invalid parameter: expected true or false.'],
    [null, 'Invalid parameter: expected true or false.'],
    [[], 'Invalid parameter: expected true or false.'],
  ])
})

describe('wholeNumber', () => {
  const Small = wholeNumber('small', 100)

  it('is a number, decimal text or hex', () => {
    for (const form of [16, '16', '0x10']) expect(Small.read(form, 'count')).toBe(16)
  })

  refusals(
    Small,
    [-1, 1.5, 101, '0x65', '', 'x', true, null, [5], {}].map((given) => [
      given,
      'Invalid parameter: expected a whole number from 0 to 100.',
    ]),
  )
})
