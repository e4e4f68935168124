/** The block header contract, called from outside on real blocks. */
import { decodeAbiParameters, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'

const ABI = parseAbi([
  'function getCoinbaseAddress(int256) returns (bytes)',
  'function getBlockHash(int256) returns (bytes)',
  'function getMinGasPrice(int256) returns (bytes)',
  'function getGasLimit(int256) returns (bytes)',
  'function getGasUsed(int256) returns (bytes)',
  'function getDifficulty(int256) returns (bytes)',
  'function getBitcoinHeader(int256) returns (bytes)',
  'function getUncleCoinbaseAddress(int256,int256) returns (bytes)',
  'function getDifficultyWithUncles(int256) returns (bytes)',
  'function getCumulativeWork(int256) returns (bytes)',
])
type Field = Exclude<(typeof ABI)[number]['name'], 'getUncleCoinbaseAddress'>

interface BlockReply {
  readonly hash: Hex
  readonly miner: Hex
  readonly minimumGasPrice: Hex
  readonly gasLimit: Hex
  readonly gasUsed: Hex
  readonly difficulty: Hex
  readonly totalDifficulty: Hex
  readonly bitcoinMergedMiningHeader: Hex
  readonly uncles: readonly Hex[]
}

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'

let node: Node

beforeEach(async () => {
  node = await createNode()
  for (let i = 0; i < 12; i++) {
    if (i % 3 === 0) await send()
    else await node.request({ method: 'evm_mine', params: [] })
  }
})

afterEach(() => node.close())

async function send(): Promise<void> {
  await node.request({
    method: 'eth_sendTransaction',
    params: [{ from: A, to: B, value: '0x1', gas: '0x5208' }],
  })
}

async function ask(data: Hex, at: string): Promise<Hex> {
  const to = '0x0000000000000000000000000000000001000010'
  const output = (await node.request({ method: 'eth_call', params: [{ to, data }, at] })) as Hex
  return decodeAbiParameters([{ type: 'bytes' }], output)[0]
}

function field(functionName: Field, depth: number, at: string): Promise<Hex> {
  return ask(encodeFunctionData({ abi: ABI, functionName, args: [BigInt(depth)] }), at)
}

async function blockAt(number: number): Promise<BlockReply> {
  const params = [`0x${number.toString(16)}`, false]
  return (await node.request({ method: 'eth_getBlockByNumber', params })) as BlockReply
}

/** Numbers come as two's complement: of no sign here. */
function signed(quantity: Hex): Hex {
  const digits = quantity.slice(2)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  return Number.parseInt(even.slice(0, 2), 16) > 127 ? `0x00${even}` : `0x${even}`
}

describe('the block header contract', () => {
  it.each([
    ['latest', 12, 0],
    ['latest', 12, 5],
    ['latest', 12, 11],
    ['0x7', 7, 2],
  ])('at block %s (%i) returns data of the ancestor at depth %i', async (at, number, depth) => {
    const ancestor = await blockAt(number - 1 - depth)
    const expected: Record<Field, Hex> = {
      getCoinbaseAddress: ancestor.miner,
      getBlockHash: ancestor.hash,
      getMinGasPrice: signed(ancestor.minimumGasPrice),
      getGasLimit: signed(ancestor.gasLimit),
      getGasUsed: signed(ancestor.gasUsed),
      getDifficulty: signed(ancestor.difficulty),
      getBitcoinHeader: ancestor.bitcoinMergedMiningHeader,
      getDifficultyWithUncles: signed(ancestor.difficulty),
      getCumulativeWork: signed(ancestor.totalDifficulty),
    }
    for (const [name, value] of Object.entries(expected) as [Field, Hex][]) {
      // The genesis spells some of its numbers, and its Bitcoin header, in ways of its own.
      if (number - 1 - depth > 0 || name === 'getBlockHash' || name === 'getCoinbaseAddress') {
        expect(await field(name, depth, at), name).toBe(value)
      }
    }
  })

  it('returns empty data below the genesis', async () => {
    expect(await field('getBlockHash', 12, 'latest')).toBe('0x')
    expect(await field('getBlockHash', 6, '0x7')).not.toBe('0x')
    expect(await field('getBlockHash', 7, '0x7')).toBe('0x')
  })

  it('has the head at depth 0 in the next block', async () => {
    expect(await field('getBlockHash', 0, 'pending')).toBe((await blockAt(12)).hash)
  })

  it('returns data of uncles of ancestors', async () => {
    await node.engine.commands.mine({ parent: (await blockAt(11)).hash })
    await node.request({ method: 'evm_mine', params: [{ blocks: 2 }] })
    const block = await blockAt(13)
    expect(block.uncles).toHaveLength(1)
    const uncleCoinbase = (index: bigint) =>
      ask(
        encodeFunctionData({ abi: ABI, functionName: 'getUncleCoinbaseAddress', args: [0n, index] }),
        'latest',
      )
    expect(await uncleCoinbase(0n)).toBe(block.miner)
    expect(await uncleCoinbase(1n)).toBe('0x')
    expect(await field('getDifficulty', 0, 'latest')).toBe('0x01')
    expect(await field('getDifficultyWithUncles', 0, 'latest')).toBe('0x02')
    expect(await field('getCumulativeWork', 0, 'latest')).toBe('0x0f')
  })
})
