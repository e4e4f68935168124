import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Block, transactionsRoot, unclesHash } from '../../src/chain/block.ts'
import { CHAINS, type ChainConfig } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { type Header, headerHash } from '../../src/chain/header.ts'
import { PARENT_HEADER_OFFSET } from '../../src/chain/merged-mining/parent-header.ts'
import { nextGasLimit } from '../../src/chain/next-header.ts'
import { remascTransaction, signTransaction, type Transaction } from '../../src/chain/transaction.ts'
import { MAX_UNCLES, validateBody, validateHeader } from '../../src/chain/validation.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { mineHeader } from '../support/mined-header.ts'
import { headerWith } from './headers.ts'

const REGTEST = CHAINS.regtest
/** The local network with the clock rules of the others. */
const TIMED: ChainConfig = { ...REGTEST, maxSecondsInFuture: 60 }
const NOW = 1_700_000_000

const genesis = parseGenesis(
  JSON.parse(readFileSync(new URL('../../genesis/regtest.json', import.meta.url), 'utf8')),
  REGTEST,
).header(`0x${'00'.repeat(32)}`)

/** A mined child that keeps all rules, with the given changes made before it is mined. */
function child(parent: Header, changes: Partial<Header> = {}, time?: number): Header {
  const header = headerWith({
    parentHash: headerHash(parent, REGTEST),
    number: parent.number + 1,
    gasLimit: nextGasLimit(parent, REGTEST),
    timestamp: NOW,
    ...changes,
  })
  return mineHeader(header, REGTEST, { time: time ?? header.timestamp })
}

function brokenRule(run: () => void): string {
  try {
    run()
  } catch (error) {
    expect(error).toMatchObject({ kind: 'invalid-block' })
    return (error as Error).message
  }
  return 'valid'
}

const parent = child(genesis, { timestamp: NOW - 10, minimumGasPrice: 1n })
const judge = (header: Header, config = REGTEST, now = NOW) =>
  brokenRule(() => validateHeader(header, parent, config, now))

describe('a header', () => {
  it('that keeps every rule is valid, on the local network at any time', () => {
    expect(judge(child(parent))).toBe('valid')
    expect(judge(child(parent), TIMED)).toBe('valid')
    expect(judge(child(parent, { timestamp: 5 }, NOW))).toBe('valid')
    expect(brokenRule(() => validateHeader(parent, genesis, REGTEST, 0))).toBe('valid')
  })

  it.each<[string, Partial<Header>, string]>([
    ['parent', { parentHash: `0x${'22'.repeat(32)}` }, 'block 2: parentHash is not the hash of the parent'],
    ['number', { number: 3 }, 'block 3: number must be 2, not 3'],
    ['version', { version: 1 }, 'block 2: header version must be 2 at height 2, not 1'],
    ['difficulty', { difficulty: 2n }, 'block 2: difficulty must be 1, not 2'],
    [
      'gas limit too high',
      { gasLimit: 10_000_000n },
      'block 2: gasLimit 10000000 is not within 9980478 and 9999991',
    ],
    [
      'gas limit too low',
      { gasLimit: 9_980_477n },
      'block 2: gasLimit 9980477 is not within 9980478 and 9999991',
    ],
    ['gas used', { gasUsed: 9_980_480n }, 'block 2: gasUsed 9980480 exceeds gasLimit 9980479'],
    ['minimum gas price', { minimumGasPrice: 3n }, 'block 2: minimumGasPrice 3 is not within 0 and 2'],
    ['extra data', { extraData: new Uint8Array(33) }, 'block 2: extraData has more than 32 bytes'],
    ['base event', { baseEvent: new Uint8Array(129) }, 'block 2: baseEvent has more than 128 bytes'],
  ])('breaks a rule: %s', (_, changes, message) => {
    expect(judge(child(parent, changes))).toBe(message)
  })

  it('names the first rule that it breaks', () => {
    expect(judge(child(parent, { number: 9, gasUsed: 1n << 60n, difficulty: 2n }))).toBe(
      'block 9: number must be 2, not 9',
    )
  })

  it('needs a proof of work that has 80 bytes and commits to this header', () => {
    const mined = child(parent)
    const empty = { bitcoinHeader: new Uint8Array(0) }
    expect(judge({ ...mined, ...empty })).toBe('block 2: bitcoinMergedMiningHeader must have 80 bytes, not 0')
    expect(judge({ ...mined, stateRoot: `0x${'33'.repeat(32)}` })).toBe(
      'The coinbase transaction does not commit to this block',
    )
  })

  it('may have the limits of each range', () => {
    const edge = {
      extraData: new Uint8Array(32),
      minimumGasPrice: 2n,
      gasUsed: 9_999_991n,
      gasLimit: 9_999_991n,
    }
    expect(judge(child(parent, edge))).toBe('valid')
  })

  it('never has a gas limit below the floor', () => {
    const low = child(genesis, { gasLimit: 3_000_000n })
    expect(brokenRule(() => validateHeader(child(low), low, REGTEST, NOW))).toBe('valid')
    const lower = child(low, { gasLimit: 2_999_999n })
    expect(brokenRule(() => validateHeader(lower, low, REGTEST, NOW))).toBe(
      'block 2: gasLimit 2999999 is not within 3000000 and 3002929',
    )
  })
})

describe('the clock rules', () => {
  it('allow a timestamp up to the configured seconds in the future', () => {
    expect(judge(child(parent), TIMED, NOW - 60)).toBe('valid')
    expect(judge(child(parent), TIMED, NOW - 61)).toBe(
      `block 2: timestamp ${NOW} is more than 60 seconds in the future`,
    )
  })

  it('require a later timestamp than the parent’s', () => {
    expect(judge(child(parent, { timestamp: parent.timestamp + 1 }), TIMED)).toBe('valid')
    expect(judge(child(parent, { timestamp: parent.timestamp }), TIMED)).toBe(
      `block 2: timestamp ${parent.timestamp} does not exceed the parent's, ${parent.timestamp}`,
    )
  })

  const AWAY = `block 2: timestamp ${NOW} is 300 seconds or more away from the parent-chain header's`

  it('require a parent-chain timestamp less than 300 seconds away', () => {
    for (const [offset, verdict] of [
      [299, 'valid'],
      [-299, 'valid'],
      [300, `${AWAY}, ${NOW + 300}`],
      [-300, `${AWAY}, ${NOW - 300}`],
    ] as const) {
      const mined = child(parent, {}, NOW + offset)
      expect(judge(mined, TIMED)).toBe(verdict)
      expect(judge(mined, REGTEST)).toBe('valid')
    }
  })

  it('refuse a parent-chain header without a timestamp', () => {
    const cut = child(parent).bitcoinHeader.subarray(0, PARENT_HEADER_OFFSET.time)
    expect(judge({ ...child(parent), bitcoinHeader: cut }, TIMED)).toBe(
      'block 2: bitcoinMergedMiningHeader must have 80 bytes, not 68',
    )
  })
})

describe('a body', () => {
  const key = keccak256(new TextEncoder().encode('cow'))
  const transfer = (nonce: bigint, gasPrice = 1n, chainId = 33): Transaction =>
    signTransaction(
      {
        nonce,
        gasPrice,
        gasLimit: 21_000n,
        to: parent.coinbase,
        value: 0n,
        data: new Uint8Array(0),
        chainId,
      },
      key,
    )
  const block = (
    transactions: readonly Transaction[],
    changes: Partial<Header> = {},
    uncles: readonly Header[] = [],
  ): Block => ({
    header: headerWith({
      number: 2,
      minimumGasPrice: 1n,
      transactionsRoot: transactionsRoot(transactions),
      unclesHash: unclesHash(uncles, REGTEST),
      uncleCount: uncles.length,
      ...changes,
    }),
    transactions,
    uncles,
  })
  const judgeBody = (given: Block) => brokenRule(() => validateBody(given, REGTEST))
  const reward = remascTransaction(2)
  const foreignRoot: Partial<Header> = { transactionsRoot: `0x${'44'.repeat(32)}` }

  it('that keeps every rule is valid', () => {
    expect(judgeBody(block([reward]))).toBe('valid')
    expect(judgeBody(block([transfer(0n), transfer(1n, 100n), transfer(2n, 1n, 0), reward]))).toBe('valid')
    expect(judgeBody(block([reward], {}, [headerWith(), headerWith({ number: 7 })]))).toBe('valid')
  })

  it.each<[string, Block, string]>([
    ['no transaction', block([]), 'block 2: the last transaction must be the REMASC transaction'],
    ['no reward', block([transfer(0n)]), 'block 2: the last transaction must be the REMASC transaction'],
    [
      'reward first',
      block([reward, transfer(0n)]),
      'block 2: the last transaction must be the REMASC transaction',
    ],
    [
      'two rewards',
      block([reward, reward]),
      'block 2: only the last transaction may be a REMASC transaction',
    ],
    [
      'a reward of another block',
      block([remascTransaction(3)]),
      'block 2: the REMASC transaction must have nonce 1, not 2',
    ],
    [
      'a foreign root',
      block([reward], foreignRoot),
      'block 2: transactionsRoot is not that of the transactions',
    ],
    [
      'a foreign chain',
      block([transfer(0n, 1n, 31), reward]),
      `block 2: transaction ${transfer(0n, 1n, 31).hash} is for chain 31, not 33`,
    ],
    [
      'a price too low',
      block([transfer(0n, 0n), reward]),
      `block 2: transaction ${transfer(0n, 0n).hash} offers less than the minimum gas price 1`,
    ],
    [
      'a price too high',
      block([transfer(0n, 101n), reward]),
      `block 2: transaction ${transfer(0n, 101n).hash} offers more than 100 times the minimum gas price 1`,
    ],
    ['a wrong count of uncles', block([reward], { uncleCount: 1 }), 'block 2: uncleCount must be 0, not 1'],
    [
      'foreign uncles',
      block([reward], foreignUncles(), [headerWith()]),
      'block 2: unclesHash is not that of the uncles',
    ],
    [
      'too many uncles',
      block([reward], {}, new Array(MAX_UNCLES + 1).fill(headerWith())),
      'block 2: more than 10 uncles',
    ],
  ])('breaks a rule: %s', (_, given, message) => {
    expect(judgeBody(given)).toBe(message)
  })

  it('has no maximum gas price while the minimum is zero', () => {
    const free = { minimumGasPrice: 0n }
    expect(judgeBody(block([transfer(0n, 10n ** 18n), transfer(1n, 0n), reward], free))).toBe('valid')
  })

  it.each<[readonly number[], string]>([
    [[], 'valid'],
    [[1], 'valid'],
    [[1, 2], 'valid'],
    [[3], 'valid'],
    [[4], 'block 2: edges reach beyond the transactions'],
    [[0], 'block 2: edges must be above zero and ascending'],
    [[2, 2], 'block 2: edges must be above zero and ascending'],
    [[2, 1], 'block 2: edges must be above zero and ascending'],
    [[1, 2, 3], 'block 2: edges name more than 2 sublists'],
  ])('with limits %j', (edges, verdict) => {
    const transactions = [transfer(0n), transfer(1n), transfer(2n), reward]
    expect(judgeBody(block(transactions, { edges }))).toBe(verdict)
  })

  function foreignUncles(): Partial<Header> {
    return { unclesHash: `0x${'55'.repeat(32)}` }
  }
})
