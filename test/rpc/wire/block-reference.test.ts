/**
 * The forms of a block reference, family by family (docs/internals/rpc-reference.md#31-block-parameters,
 * docs/internals/rpc-reference.md#32-eip-1898).
 */
import { describe, expect, it } from 'vitest'
import {
  CallBlock,
  EstimateBlock,
  LogBlock,
  LookupBlock,
  StateBlock,
} from '../../../src/rpc/wire/block-reference.ts'
import { UNKNOWN } from '../../support/fake-chain.ts'
import { refusals, saying } from '../../support/refusals.ts'

const families = { StateBlock, CallBlock, LookupBlock, EstimateBlock, LogBlock }
const HASH = `0x${'aB'.repeat(32)}`
const hash = HASH.toLowerCase()

describe('every family', () => {
  it.each(Object.entries(families))('%s reads tags and hex numbers', (_, family) => {
    for (const tag of ['latest', 'earliest', 'pending']) {
      expect(family.read(tag, 'block')).toMatchObject({ reference: { tag }, label: `Block ${tag}` })
    }
    expect(family.read('0x0', 'block').reference).toEqual({ number: 0 })
    expect(family.read('0x0fF', 'block')).toMatchObject({ reference: { number: 255 }, label: 'Block 0x0fF' })
    expect(family.read(`0x${'f'.repeat(40)}`, 'block').reference).toEqual({ number: Number.MAX_SAFE_INTEGER })
  })

  it.each(Object.entries(families))('%s refuses an invalid block', (_, family) => {
    for (const text of ['foo', '0x', '0xzz', '-1', ' latest', '__proto__']) {
      expect(() => family.read(text, 'block')).toThrow(saying(`Invalid block identifier '${text}'`))
    }
  })
})

describe('every family, given a text that is too long', () => {
  it.each(Object.entries(families))('%s neither reads it nor repeats it', (_, family) => {
    for (const text of [`0x${'0'.repeat(100)}1`, '9'.repeat(5_000_000)]) {
      expect(() => family.read(text, 'block')).toThrow(/^Invalid block identifier '.{66}\.\.\.'$/)
    }
  })
})

describe('StateBlock', () => {
  it('accepts a hash as text', () => {
    expect(StateBlock.read(HASH, 'block')).toMatchObject({ reference: { hash }, label: `Block ${HASH}` })
  })

  refusals(StateBlock, [
    ['5', 'invalid blocknumber 5'],
    ['LATEST', "Invalid block identifier 'LATEST'"],
    ['finalized', "Invalid block identifier 'finalized'"],
    ['', "Invalid block identifier ''"],
    [5, 'Invalid input'],
    [[], 'Invalid input'],
    [true, 'Invalid input'],
    [null, 'Invalid parameter: expected a block number, tag, hash or object.'],
    [{}, 'Invalid block input'],
    [{ blockHash: '0x00' }, 'Invalid block hash: incorrect length.'],
    [{ blockNumber: 'latest' }, 'Invalid param latest: value must be a valid hex or string number.'],
    [
      { blockHash: HASH, requireCanonical: { toString: 'no' } },
      'Invalid input: requireCanonical must be a String "true" or "false"',
    ],
    [
      { blockHash: HASH, requireCanonical: 'yes' },
      'Invalid input: requireCanonical must be a String "true" or "false"',
    ],
  ])
})

describe('EIP-1898 objects', () => {
  it.each([StateBlock, CallBlock])('name a height or a hash', (family) => {
    expect(family.read({ blockNumber: '0x5' }, 'block')).toEqual({
      reference: { number: 5 },
      label: 'Block 0x5',
      exact: true,
    })
    expect(family.read({ blockNumber: 5 }, 'block').reference).toEqual({ number: 5 })
    expect(family.read({ blockHash: HASH, blockNumber: '0x5' }, 'block')).toEqual({
      reference: { hash, requireCanonical: false },
      label: `Block with hash ${HASH}`,
      exact: true,
    })
    for (const required of [true, 'true']) {
      const argument = family.read({ blockHash: HASH, requireCanonical: required }, 'block')
      expect(argument.reference).toEqual({ hash, requireCanonical: true })
    }
    expect(family.read({ blockHash: HASH, requireCanonical: 'false', other: 1 }, 'block').reference).toEqual({
      hash,
      requireCanonical: false,
    })
  })
})

describe('CallBlock', () => {
  it('accepts decimal numbers', () => {
    expect(CallBlock.read('16', 'block').reference).toEqual({ number: 16 })
  })

  refusals(CallBlock, [
    [UNKNOWN, 'Invalid parameter: expected a block number, tag or object; name a hash as {"blockHash": …}.'],
    ['safe', "Invalid block identifier 'safe'"],
  ])
})

describe('LookupBlock', () => {
  it('accepts a hash as text', () => {
    expect(LookupBlock.read(HASH, 'block').reference).toEqual({ hash })
  })

  refusals(LookupBlock, [
    ['', 'Invalid block identifier: empty or null.'],
    [null, 'Invalid block identifier: empty or null.'],
    ['finalized', 'invalid blocknumber finalized'],
    ['LATEST', 'invalid blocknumber LATEST'],
    ['5', 'invalid blocknumber 5'],
    [5, 'invalid blocknumber 5'],
    [1.5, "Invalid block identifier '1.5'"],
    [{ blockNumber: '0x0' }, "Invalid block identifier '{'"],
    [true, "Invalid block identifier 'true'"],
  ])
})

describe('EstimateBlock', () => {
  it('accepts decimal numbers', () => {
    expect(EstimateBlock.read('16', 'block').reference).toEqual({ number: 16 })
    expect(EstimateBlock.read(16, 'block').reference).toEqual({ number: 16 })
  })

  refusals(EstimateBlock, [
    [
      'safe',
      "Unsupported block specifier 'safe'. Can only be either 'earliest', 'latest', 'pending' or a specific block number (either hex - prepending '0x' or decimal).",
    ],
    ['', 'Invalid block identifier: empty or null.'],
    [UNKNOWN, 'Invalid parameter: expected a block number or tag.'],
    [{}, "Invalid block identifier '{'"],
  ])
})

describe('LogBlock', () => {
  it('accepts tags of any case', () => {
    expect(LogBlock.read('LATEST', 'block').reference).toEqual({ tag: 'latest' })
  })

  refusals(LogBlock, [
    [null, "Invalid block identifier 'null'"],
    ['5', 'Invalid parameter: expected a hex block number or a tag.'],
    ['safe', 'Invalid parameter: expected a hex block number or a tag.'],
    [UNKNOWN, 'Invalid parameter: expected a hex block number or a tag.'],
  ])
})
