/** Facts of tokens: answers as ethers encodes them, and malformed ones. */
import { AbiCoder, encodeBytes32String, id } from 'ethers'
import { describe, expect, it } from 'vitest'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import type { AssetChange } from '../../src/execution/asset-changes.ts'
import { knownAssets } from '../../src/execution/token-facts.ts'

const TOKEN: Hex = '0x00000000000000000000000000000000c0de0001'
const coder = AbiCoder.defaultAbiCoder()
const text = (value: string) => coder.encode(['string'], [value])
const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
const change: AssetChange = {
  type: 'erc20',
  change: 'transfer',
  from: TOKEN,
  to: TOKEN,
  token: TOKEN,
  amount: 1n,
}

/** The facts of a token with these answers by signature. */
async function factsOf(answers: Record<string, string>, one: AssetChange = change) {
  const known = new Map(
    Object.entries(answers).map(([signature, data]) => [id(signature).slice(0, 10), data]),
  )
  const { assets, tokens } = await knownAssets([one], async (token, question) => {
    expect(token).toBe(TOKEN)
    const data = known.get(toHex(question.subarray(0, 4)))
    return data === undefined ? undefined : fromHex(data)
  })
  return { asset: assets[0], facts: tokens.get(TOKEN) }
}

describe('the facts of a token', () => {
  it.each([
    ['a text', text('Ünited €'), 'Ünited €'],
    ['a text of 32 bytes', text('x'.repeat(32)), 'x'.repeat(32)],
    ['bytes32', encodeBytes32String('MKR'), 'MKR'],
    ['bytes32 in full', `0x${'61'.repeat(32)}`, 'a'.repeat(32)],
    ['an empty text', text(''), undefined],
    ['zeros', `0x${word(0)}`, undefined],
    ['nothing', '0x', undefined],
    ['a text longer than its data', `0x${word(32)}${word(33)}${'61'.repeat(32)}`, undefined],
    ['a length beyond any data', `0x${word(32)}${word(2n ** 255n)}${'61'.repeat(32)}`, undefined],
    ['another offset', `0x${word(64)}${word(3)}${'61'.repeat(32)}`, undefined],
    ['a text of 257 bytes', text('x'.repeat(257)), undefined],
    ['bytes that are not UTF-8', `0x${'ff'.repeat(32)}`, undefined],
  ])('are read from %s', async (_, answer, expected) => {
    const { facts } = await factsOf({ 'name()': answer, 'symbol()': answer })
    expect(facts).toEqual(expected === undefined ? {} : { name: expected, symbol: expected })
  })

  it.each([
    [word(18), 18],
    [word(255), 255],
    [word(256), undefined],
    ['12', undefined],
  ])('have decimals: %s', async (answer, decimals) => {
    const { facts } = await factsOf({ 'decimals()': `0x${answer}` })
    expect(facts).toEqual(decimals === undefined ? {} : { decimals })
    expect((await factsOf({ 'decimals()': `0x${answer}` }, { ...change, type: 'erc721' })).facts).toEqual({})
  })

  it.each([
    [`0x${word(1)}`, 'erc1155'],
    [`0x${word(0)}`, 'erc721'],
    ['0x', 'erc721'],
  ])('tell the standard of an approval for all tokens: %s', async (answer, type) => {
    const answers = { 'supportsInterface(bytes4)': answer }
    expect((await factsOf(answers, { ...change, type: 'erc721', approved: true })).asset?.type).toBe(type)
    expect((await factsOf(answers, { ...change, type: 'erc721' })).asset?.type).toBe('erc721')
  })
})
