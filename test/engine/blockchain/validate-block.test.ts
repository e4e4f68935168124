/** Blocks that somebody else made: the first rule broken is named, and nothing changes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ExecutedBlock, transactionsRoot, unclesHash } from '../../../src/chain/block.ts'
import { CHAINS } from '../../../src/chain/config.ts'
import type { Header } from '../../../src/chain/header.ts'
import { remascTransaction } from '../../../src/chain/transaction.ts'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { type BrokenRule, createNode, type Node } from '../../../src/index.ts'
import { createForge, type Forge, transfer } from '../../support/forge.ts'
import { saying } from '../../support/refusals.ts'

const config = CHAINS.regtest
const WRONG: Hex = `0x${'77'.repeat(32)}`

let forge: Forge
let node: Node
/** Blocks 1 to 9, and a sibling of each of the first eight. */
let chain: ExecutedBlock[]
let siblings: ExecutedBlock[]
beforeEach(async () => {
  forge = await createForge()
  node = await createNode({ mining: 'manual' })
  chain = [forge.genesis]
  siblings = []
  for (let i = 0; i < 9; i++) {
    const parent = chain.at(-1) as ExecutedBlock
    const next = await forge.make(parent, { uncles: [], transactions: [transfer(0, { nonce: BigInt(i) })] })
    if (i < 8) siblings.push(await forge.make(parent, { uncles: [], coinbase: `0x${'c3'.repeat(20)}` }))
    chain.push(next)
    await node.engine.commands.importBlock(next.block)
  }
})
afterEach(() => node.close())

async function expectRefused(block: ExecutedBlock['block'], words: RegExp, broken: Partial<BrokenRule>) {
  const before = node.engine.queries.head()
  const refusal = await node.engine.commands.importBlock(block).then(
    () => undefined,
    (error) => error,
  )
  expect(refusal).toMatchObject({
    kind: 'invalid-block',
    message: expect.stringMatching(words),
    data: { height: block.header.number, ...broken },
  })
  expect(node.engine.queries.head()).toBe(before)
  expect(node.engine.queries.blocksAt(block.header.number)).toEqual(
    block.header.number === 10 ? [] : expect.anything(),
  )
}

/** The next block with another header, and a proof of work for that. */
async function next(changes: Partial<Header>, uncles: readonly Header[] = []): Promise<ExecutedBlock> {
  const made = await forge.make(chain[9] as ExecutedBlock, {
    uncles,
    transactions: [transfer(0, { nonce: 9n, gasPrice: 1n })],
  })
  return Object.keys(changes).length === 0 ? made : forge.remine(made, changes)
}

const header = (block: ExecutedBlock | undefined): Header => {
  if (block === undefined) throw new Error('no such block')
  return block.block.header
}

describe('an imported block', () => {
  it('that keeps all rules becomes the head', async () => {
    const made = await next({}, [header(siblings[7])])
    await node.engine.commands.importBlock(made.block)
    expect(node.engine.queries.head()).toEqual(made)
  })

  it.each<[keyof Header, Partial<Header>, RegExp]>([
    ['parentHash', { parentHash: WRONG }, /^block 10: the parent 0x7{64} is unknown$/],
    ['difficulty', { difficulty: 2n }, /^block 10: difficulty must be 1, not 2$/],
    ['number', { number: 11 }, /^block 11: number must be 10, not 11$/],
    [
      'transactionsRoot',
      { transactionsRoot: WRONG },
      /^block 10: transactionsRoot is not that of the transactions$/,
    ],
    ['uncleCount', { uncleCount: 1 }, /^block 10: uncleCount must be 0, not 1$/],
    ['gasUsed', { gasUsed: 5n }, /^block 10: gasUsed must be 21000, not 5$/],
    ['paidFees', { paidFees: 5n }, /^block 10: paidFees must be 21000, not 5$/],
    [
      'logsBloom',
      { logsBloom: new Uint8Array(256).fill(1) },
      /^block 10: logsBloom is not that of the logs$/,
    ],
    ['receiptsRoot', { receiptsRoot: WRONG }, /^block 10: receiptsRoot is not that of the receipts$/],
    ['stateRoot', { stateRoot: WRONG }, /^block 10: stateRoot must be 0x\w{64}, not 0x7{64}$/],
  ])('is refused for its %s', async (rule, changes, words) => {
    const made = await next({})
    const mined =
      'parentHash' in changes
        ? { ...made.block.header, ...changes }
        : (await forge.remine(made, changes)).block.header
    const [found] = Object.values(changes)
    const textOf = (value: unknown) => (value instanceof Uint8Array ? toHex(value) : String(value))
    await expectRefused({ ...made.block, header: mined }, words, {
      rule,
      found: textOf(found),
      expected: textOf(made.block.header[rule]),
    })
  })

  it('is refused for the proof of work of another block', async () => {
    const made = await next({})
    const { bitcoinHeader, coinbaseTransaction } = header(chain[9])
    await expectRefused(
      { ...made.block, header: { ...made.block.header, bitcoinHeader, coinbaseTransaction } },
      /^The coinbase transaction does not commit to this block$/,
      { rule: 'proofOfWork' },
    )
  })

  it('is refused for a transaction that cannot run', async () => {
    const made = await next({})
    const transactions = [transfer(0, { nonce: 5n, gasPrice: 1n }), remascTransaction(10)]
    const mined = await forge.remine(made, { transactionsRoot: transactionsRoot(transactions) })
    const broken = { rule: 'transaction', expected: '9', found: '5' }
    await expectRefused(
      { ...mined.block, transactions },
      /^transaction 0: nonce 5 is not the account's 9$/,
      broken,
    )
  })
})

describe('uncles of an imported block', () => {
  async function withUncles(uncles: readonly Header[]): Promise<ExecutedBlock['block']> {
    const made = await next({})
    const mined = await forge.remine(made, {
      unclesHash: unclesHash(uncles, config),
      uncleCount: uncles.length,
    })
    return { ...mined.block, uncles }
  }

  it('may be six heights below, and need not be stored', async () => {
    const block = (await next({}, [header(siblings[3])])).block
    expect(block.uncles[0]?.number).toBe(4)
    expect(await node.engine.commands.importBlock(block)).toMatchObject({ outcome: 'best' })
    expect(node.engine.queries.head().totalDifficulty).toBe(12n)
  })

  it('are refused when they are too old, too recent, repeated, ancestors, of another chain or invalid headers', async () => {
    const [old, good] = [header(siblings[2]), header(siblings[7])]
    const young = header(await forge.make(chain[9] as ExecutedBlock, { coinbase: `0x${'c4'.repeat(20)}` }))
    const stranger = header(await forge.make(siblings[6] as ExecutedBlock, { uncles: [] }))
    const { bitcoinHeader } = old
    const refused: [readonly Header[], RegExp][] = [
      [[old], /^block 10: uncle 0x[0-9a-f]{64} has number 3, more than 6 below the block's$/],
      [[young], /^block 10: uncle 0x[0-9a-f]{64} has number 10, not one below the block's$/],
      [[good, good], /^block 10: uncle 0x[0-9a-f]{64} is named twice$/],
      [[header(chain[8])], /^block 10: uncle 0x[0-9a-f]{64} is an ancestor$/],
      [[stranger], /^block 10: uncle 0x[0-9a-f]{64} has a parent that is not an ancestor of the block$/],
      [[{ ...good, bitcoinHeader }], /^block 10: uncle 0x[0-9a-f]{64} is not a valid header: /],
      [
        [{ ...good, gasUsed: good.gasLimit + 1n }],
        /^block 10: uncle 0x[0-9a-f]{64} is not a valid header: block 8: gasUsed 9922145 exceeds gasLimit 9922144$/,
      ],
    ]
    for (const [uncles, words] of refused) {
      await expectRefused(await withUncles(uncles), words, { rule: 'uncles' })
    }
  })

  it('are refused when an ancestor includes them', async () => {
    const good = header(siblings[7])
    const first = await next({}, [good])
    await node.engine.commands.importBlock(first.block)
    const second = await forge.make(first, { uncles: [good] })
    await expect(node.engine.commands.importBlock(second.block)).rejects.toThrow(
      saying(`block 11: uncle ${siblings[7]?.hash} was named by an ancestor`),
    )
    expect(node.engine.queries.head().hash).toBe(first.hash)
  })
})
