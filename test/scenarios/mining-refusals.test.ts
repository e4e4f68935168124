/** Submitted work that is refused over HTTP, and that nothing has changed then (acceptance checks 202 and 204). */
import { afterEach, describe, expect, it } from 'vitest'
import { everything, type ParentBlock, type ParentBlockParts, solveWork } from '../support/parent-block.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const IMPORTED_BEST = `0x${Buffer.from('IMPORTED_BEST').toString('hex')}`

let t: ServedNode
afterEach(() => t.close())

/** A clock that stands still, so that new work is made only when the chain or the pool changed. */
const now = () => 2_000_000_000

const error = async (method: string, ...params: unknown[]) => (await t.reply(method, params)).error
const transfer = () => t.call('eth_sendTransaction', { from: A, to: B, value: '0x1', gas: '0x5208' })
const solved = (parts: Partial<ParentBlockParts> = {}) => solveWork(t, parts)

describe('a refused submission', () => {
  const notFound = (hash: string) => ({
    code: -33000,
    message: `Cannot publish block, could not find hash ${hash} in the cache`,
  })
  const invalid = (hash: string) => ({
    code: -33000,
    message: expect.stringMatching(
      new RegExp(`^Invalid block supplied by miner: 0x[0-9a-f]{64} ${hash} at height 1$`),
    ),
  })

  it('202, 204: changes nothing, whatever its fault', async () => {
    t = await servedNode({ mining: 'manual', difficulty: 1_000n, now })
    await transfer()
    const before = await everything(t)
    const hash = before.work
    const unknown = `0x${'9'.repeat(64)}`
    const good = await solved({ others: 2 })
    const other = await solved({ others: 3, text: 'another' })

    // No hashes at all, before anything else is looked at.
    expect(
      await error('mnr_submitBitcoinBlockPartialMerkle', 'h', good.header, good.coinbase, '', '1'),
    ).toEqual({ code: -33000, message: "The list of merkle hashes can't be empty" })
    // A hash that was never handed out, even when a known one stands before it.
    expect(await error('mnr_submitBitcoinBlock', (await solved({ commitment: unknown })).block)).toEqual(
      notFound(unknown),
    )
    const twoTags = Buffer.concat([Buffer.from('RSKBLOCK:'), Buffer.from(unknown.slice(2), 'hex')])
    expect(await error('mnr_submitBitcoinBlock', (await solved({ after: twoTags })).block)).toEqual(
      notFound(unknown),
    )
    // No tag, or too little behind it.
    for (const commitment of [undefined, '0x1234']) {
      expect(await error('mnr_submitBitcoinBlock', (await solved({ commitment })).block)).toEqual({
        code: -33000,
        message: 'Cannot publish block, the coinbase transaction holds no tag with a hash behind it',
      })
    }
    // Above the target; more than 128 bytes behind the hash; another block's branch, header or coinbase.
    expect(await error('mnr_submitBitcoinBlock', (await solved({ solved: false })).block)).toEqual(
      invalid(hash),
    )
    expect(await error('mnr_submitBitcoinBlock', (await solved({ after: Buffer.alloc(125) })).block)).toEqual(
      invalid(hash),
    )
    const partial = (header: string, coinbase: string, branch: string) =>
      error('mnr_submitBitcoinBlockPartialMerkle', hash.slice(2), header, coinbase, branch, '3')
    expect(await partial(good.header, good.coinbase, other.branch)).toEqual(invalid(hash))
    expect(await partial(good.header, other.coinbase, good.branch)).toEqual(invalid(hash))
    expect(await partial(other.header, good.coinbase, good.branch)).toEqual(invalid(hash))
    expect(
      await error(
        'mnr_submitBitcoinBlockTransactions',
        hash.slice(2),
        good.header,
        good.coinbase,
        other.transactionIds,
      ),
    ).toEqual(invalid(hash))

    expect(await everything(t)).toEqual(before)
    // And the work is still good.
    expect(await t.call('mnr_submitBitcoinBlock', good.block)).toMatchObject({
      blockImportedResult: IMPORTED_BEST,
    })
  })

  it('names the parameter that is malformed', async () => {
    t = await servedNode({ mining: 'manual', now })
    const { header, coinbase, block, branch, transactionIds } = await solved({ others: 1 })
    const before = await everything(t)
    const cases: [string, string, ...string[]][] = [
      ['block', 'mnr_submitBitcoinBlock', `0x${block}`],
      ['block', 'mnr_submitBitcoinBlock', ''],
      ['block', 'mnr_submitBitcoinBlock', 'zz'],
      ['block', 'mnr_submitBitcoinBlock', block.slice(0, -2)],
      ['block', 'mnr_submitBitcoinBlock', `${block}00`],
      ['header', 'mnr_submitBitcoinBlockTransactions', 'h', `${header}00`, coinbase, transactionIds],
      ['coinbase', 'mnr_submitBitcoinBlockTransactions', 'h', header, `${coinbase}00`, transactionIds],
      ['transactionHashes', 'mnr_submitBitcoinBlockTransactions', 'h', header, coinbase, '  '],
      ['transactionHashes', 'mnr_submitBitcoinBlockTransactions', 'h', header, coinbase, '1234'],
      ['header', 'mnr_submitBitcoinBlockPartialMerkle', 'h', `0x${header}`, coinbase, branch, '2'],
      ['merkleHashes', 'mnr_submitBitcoinBlockPartialMerkle', 'h', header, coinbase, `${branch} 12`, '2'],
      ['transactionCount', 'mnr_submitBitcoinBlockPartialMerkle', 'h', header, coinbase, branch, '0x2'],
    ]
    for (const [name, method, ...params] of cases) {
      expect(await error(method, ...params), `${method} ${name}`).toEqual({
        code: -32602,
        message: expect.stringMatching(new RegExp(`^Invalid ${name}: expected `)),
      })
    }
    expect((await error('mnr_submitBitcoinBlock', null))?.code).toBe(-32602)
    expect(await everything(t)).toEqual(before)
  })

  it('is the result for work older than the last twenty, and for work whose parent was removed', async () => {
    t = await servedNode({ mining: 'manual', accountSlots: 32, now })
    const oldest = await solved()
    const { blockHashForMergedMining: hash } = await t.call('mnr_getWork')
    let second: ParentBlock | undefined
    for (let i = 0; i < 20; i++) {
      await transfer()
      const made = await solved()
      second ??= made
    }
    expect(await error('mnr_submitBitcoinBlock', oldest.block)).toEqual(notFound(hash))
    expect(await t.call('mnr_submitBitcoinBlock', second?.block)).toMatchObject({
      blockImportedResult: IMPORTED_BEST,
    })

    const snapshot = await t.call('evm_snapshot')
    await t.call('evm_mine')
    const orphan = await solved()
    const { blockHashForMergedMining: orphaned } = await t.call('mnr_getWork')
    await t.call('evm_revert', snapshot)
    const before = await everything(t)
    expect(await error('mnr_submitBitcoinBlock', orphan.block)).toEqual(notFound(orphaned))
    expect(await everything(t)).toEqual(before)
  })

  it('is too soon after another one when the rate is limited', async () => {
    t = await servedNode({ mining: 'manual', workRateLimitMs: 3_600_000 })
    const block = await solved()
    await t.call('mnr_submitBitcoinBlock', block.block)
    expect(await error('mnr_submitBitcoinBlock', (await solved()).block)).toEqual({
      code: -33000,
      message: 'Cannot publish block, block submission rate limit exceeded',
    })
    expect(await t.call('eth_blockNumber')).toBe('0x1')
  })
})
