/** Contracts with methods: selectors, arguments, the environment and the block header contract. */
import { type Abi, decodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Header } from '../../../src/chain/header.ts'
import { concat, fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import type { AncestorBlock, PrecompileEnvironment } from '../../../src/evm/precompiles/precompile.ts'
import { contractAt, ENVIRONMENT, gasOf, outcome } from './vectors.ts'

const environment = contractAt('1000011')
const blockHeader = contractAt('1000010')

const ABI = parseAbi([
  'function getCallStackDepth() returns (uint32)',
  'function getCoinbaseAddress(int256) returns (bytes)',
  'function getBlockHash(int256) returns (bytes)',
  'function getMergedMiningTags(int256) returns (bytes)',
  'function getMinGasPrice(int256) returns (bytes)',
  'function getGasLimit(int256) returns (bytes)',
  'function getGasUsed(int256) returns (bytes)',
  'function getDifficulty(int256) returns (bytes)',
  'function getBitcoinHeader(int256) returns (bytes)',
  'function getUncleCoinbaseAddress(int256,int256) returns (bytes)',
  'function getDifficultyWithUncles(int256) returns (bytes)',
  'function getCumulativeWork(int256) returns (bytes)',
])
type Name = (typeof ABI)[number]['name']

function call(functionName: Name, ...args: readonly bigint[]): Hex {
  return encodeFunctionData({ abi: ABI as Abi, functionName, args })
}

const HASH: Hex = `0x${'ab'.repeat(32)}`
const TAG = Buffer.from('RSKBLOCK:')

const header: Header = {
  version: 1,
  parentHash: `0x${'01'.repeat(32)}`,
  unclesHash: `0x${'02'.repeat(32)}`,
  coinbase: `0x${'c0'.repeat(20)}`,
  stateRoot: `0x${'03'.repeat(32)}`,
  transactionsRoot: `0x${'04'.repeat(32)}`,
  receiptsRoot: `0x${'05'.repeat(32)}`,
  logsBloom: new Uint8Array(256),
  difficulty: 0x80n,
  number: 9,
  gasLimit: 10_000_000n,
  gasUsed: 0n,
  timestamp: 1_700_000_000,
  extraData: new Uint8Array(0),
  paidFees: 0n,
  minimumGasPrice: 0xff00n,
  uncleCount: 2,
  ummRoot: new Uint8Array(0),
  edges: [],
  baseEvent: undefined,
  bitcoinHeader: new Uint8Array(80).fill(0xbb),
  merkleProof: new Uint8Array(0),
  coinbaseTransaction: concat(
    TAG,
    new Uint8Array(40),
    TAG,
    new Uint8Array(32).fill(0xdd),
    fromHex('0xc0ffee'),
  ),
}
const uncle = (coinbase: Hex, difficulty: bigint): Header => ({ ...header, coinbase, difficulty })
const parent: AncestorBlock = {
  header,
  hash: HASH,
  uncles: [uncle(`0x${'e0'.repeat(20)}`, 1n), uncle(`0x${'e1'.repeat(20)}`, 2n)],
  totalDifficulty: 0x1_0000n,
}

function environmentOf(...ancestors: readonly AncestorBlock[]): PrecompileEnvironment {
  return { ...ENVIRONMENT, ancestor: (depth) => ancestors[depth] }
}
const env = environmentOf(parent)

function answer(input: Hex, within = env): Hex | 'failure' {
  const output = outcome(blockHeader, input, within)
  return output === 'failure' ? output : decodeAbiParameters([{ type: 'bytes' }], output)[0]
}

describe('environment', () => {
  it.each([
    [0, 1],
    [7, 8],
    [399, 400],
  ])('counts the outermost frame: depth %i is %i', (depth, answered) => {
    const output = outcome(environment, call('getCallStackDepth'), { ...ENVIRONMENT, depth })
    expect(output).toBe(toHex(fromBigIntFixed(BigInt(answered), 32)))
  })

  it('is free', () => {
    expect(gasOf(environment, call('getCallStackDepth'))).toBe(0n)
  })
})

describe('block header', () => {
  it.each<[Name, Hex]>([
    ['getCoinbaseAddress', header.coinbase],
    ['getBlockHash', HASH],
    ['getMergedMiningTags', '0xc0ffee'],
    ['getMinGasPrice', '0x00ff00'],
    ['getGasLimit', '0x00989680'],
    ['getGasUsed', '0x00'],
    ['getDifficulty', '0x0080'],
    ['getBitcoinHeader', toHex(header.bitcoinHeader)],
    ['getDifficultyWithUncles', '0x0083'],
    ['getCumulativeWork', '0x010000'],
  ])('%s', (name, expected) => {
    expect(answer(call(name, 0n))).toBe(expected)
    expect(gasOf(blockHeader, call(name, 0n))).toBe(4072n)
  })

  it('returns the gas limit in its encoding in the header', () => {
    const received = { ...parent, header: { ...header, verbatim: { 9: fromHex('0x989680') } } }
    expect(answer(call('getGasLimit', 0n), environmentOf(received))).toBe('0x989680')
  })

  it.each<[bigint, Hex | 'failure']>([
    [0n, `0x${'e0'.repeat(20)}`],
    [1n, `0x${'e1'.repeat(20)}`],
    [2n, '0x'],
    [32_768n, '0x'],
    [-1n, 'failure'],
    [-32_769n, '0x'],
  ])('finds uncle %s', (index, expected) => {
    const input = call('getUncleCoinbaseAddress', 0n, index)
    expect(answer(input)).toBe(expected)
    expect(gasOf(blockHeader, input)).toBe(4136n)
  })

  it('does not check the uncle’s number when there is no block', () => {
    expect(answer(call('getUncleCoinbaseAddress', 1n, -1n))).toBe('0x')
  })

  it('counts depth from the parent', () => {
    const older = { ...parent, hash: `0x${'cd'.repeat(32)}` as const }
    expect(answer(call('getBlockHash', 1n), environmentOf(parent, older))).toBe(older.hash)
  })

  it.each<[bigint, Hex | 'failure']>([
    [3999n, HASH],
    [4000n, '0x'],
    [32_767n, '0x'],
    [2n ** 255n - 1n, '0x'],
    [-1n, 'failure'],
    [-32_768n, 'failure'],
    [-32_769n, '0x'],
    [-(2n ** 255n), '0x'],
  ])('reads depth %s like the node', (depth, expected) => {
    expect(answer(call('getBlockHash', depth), { ...ENVIRONMENT, ancestor: () => parent })).toBe(expected)
  })

  it('encodes empty data in 96 bytes, one word more than Solidity', () => {
    const word = (value: bigint) => toHex(fromBigIntFixed(value, 32)).slice(2)
    expect(outcome(blockHeader, call('getBlockHash', 5n), env)).toBe(`0x${word(32n)}${word(0n)}${word(0n)}`)
  })

  it.each<[string, Uint8Array, Hex | 'failure']>([
    ['no tag', new Uint8Array(90), '0x'],
    ['no transaction', new Uint8Array(0), '0x'],
    ['no data after the hash', concat(TAG, new Uint8Array(32)), '0x'],
    ['a hash cut short', concat(TAG, new Uint8Array(31)), 'failure'],
  ])('reads merged mining tags: %s', (_, coinbaseTransaction, expected) => {
    const ancestor = { ...parent, header: { ...header, coinbaseTransaction } }
    expect(answer(call('getMergedMiningTags', 0n), environmentOf(ancestor))).toBe(expected)
  })
})

describe('method lookup', () => {
  const known = call('getBlockHash', 0n)
  it.each<[string, Hex]>([
    ['no input', '0x'],
    ['a selector cut short', known.slice(0, 8) as Hex],
    ['an unknown selector', '0xdeadbeef'],
    ['an argument cut short', known.slice(0, -2) as Hex],
    ['a second argument missing', call('getUncleCoinbaseAddress', 0n, 0n).slice(0, -64) as Hex],
  ])('fails free of charge: %s', (_, input) => {
    expect(gasOf(blockHeader, input)).toBe(0n)
    expect(outcome(blockHeader, input, env)).toBe('failure')
  })

  it('reads zeros when there are no arguments', () => {
    const bare = known.slice(0, 10) as Hex
    expect(gasOf(blockHeader, bare)).toBe(4008n)
    expect(answer(bare)).toBe(HASH)
  })

  it('ignores superfluous input, but charges for it', () => {
    const longer: Hex = `${known}ffff`
    expect(answer(longer)).toBe(HASH)
    expect(gasOf(blockHeader, longer)).toBe(4076n)
  })
})
