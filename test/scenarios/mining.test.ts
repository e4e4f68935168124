/** Mining from outside over HTTP: work, submissions in every form, late work, the search here (acceptance checks 201, 203, 221). */
import { getBytes } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, verifyMergedMining } from '../../src/index.ts'
import { everything, type ParentBlockParts, parentBlock, solveWork } from '../support/parent-block.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const Z32 = `0x${'0'.repeat(64)}`
const IMPORTED_BEST = `0x${Buffer.from('IMPORTED_BEST').toString('hex')}`
const IMPORTED_NOT_BEST = `0x${Buffer.from('IMPORTED_NOT_BEST').toString('hex')}`
const EXIST = `0x${Buffer.from('EXIST').toString('hex')}`

let t: ServedNode
afterEach(() => t.close())

/** A clock that stands still, so that new work is made only when the chain or the pool changed. */
const now = () => 2_000_000_000

const error = async (method: string, ...params: unknown[]) => (await t.reply(method, params)).error
const transfer = () => t.call('eth_sendTransaction', { from: A, to: B, value: '0x1', gas: '0x5208' })

const solved = (parts: Partial<ParentBlockParts> = {}) => solveWork(t, parts)

describe('work', () => {
  it('201: has five keys, and is announced as new once', async () => {
    t = await servedNode({ mining: 'manual', now })
    const work = await t.call('mnr_getWork')
    expect(work).toEqual({
      blockHashForMergedMining: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      target: `0x${'5'.repeat(64)}`,
      feesPaidToMiner: '0',
      notify: true,
      parentBlockHash: (await t.call('eth_getBlockByNumber', 'latest')).hash,
    })
    expect(await t.call('mnr_getWork')).toEqual({ ...work, notify: false })
    await t.call('evm_mine')
    const next = await t.call('mnr_getWork')
    expect(next.notify).toBe(true)
    expect(next.blockHashForMergedMining).not.toBe(work.blockHashForMergedMining)
  })

  it('221: is the same under its Ethereum name, which does not mark it as announced', async () => {
    t = await servedNode({ mining: 'manual', now })
    const [hash, seed, target] = await t.call('eth_getWork')
    expect(await t.call('mnr_getWork')).toMatchObject({
      blockHashForMergedMining: hash,
      target,
      notify: true,
    })
    expect(seed).toBe(Z32)
  })

  it('follows the pool and the clock, and is announced again when fees have grown by more than a tenth', async () => {
    t = await servedNode({ mining: 'manual', now })
    const offer = (gasPrice: number) =>
      t.call('eth_sendTransaction', {
        from: A,
        to: B,
        value: '0x1',
        gas: '0x5208',
        gasPrice: `0x${gasPrice.toString(16)}`,
      })
    const empty = await t.call('mnr_getWork')
    await offer(10)
    const first = await t.call('mnr_getWork')
    expect(first).toMatchObject({ feesPaidToMiner: '210000', notify: true })
    expect(first.blockHashForMergedMining).not.toBe(empty.blockHashForMergedMining)
    await offer(1)
    expect(await t.call('mnr_getWork')).toMatchObject({ feesPaidToMiner: '231000', notify: false })
    await offer(1)
    expect(await t.call('mnr_getWork')).toMatchObject({ feesPaidToMiner: '252000', notify: true })

    const before = await t.call('mnr_getWork')
    await t.call('evm_increaseTime', 1_000)
    const { blockHashForMergedMining } = await t.call('mnr_getWork')
    expect(blockHashForMergedMining).not.toBe(before.blockHashForMergedMining)
  })

  it('is replaced after a minute, so that its timestamp stays near the clock', async () => {
    let time = 2_000_000_000
    t = await servedNode({ mining: 'manual', now: () => time })
    const [first] = await t.call('eth_getWork')
    time += 59
    expect((await t.call('eth_getWork'))[0]).toBe(first)
    time += 1
    expect((await t.call('eth_getWork'))[0]).not.toBe(first)
    const block = await solved()
    await t.call('mnr_submitBitcoinBlock', block.block)
    expect(BigInt((await t.call('eth_getBlockByNumber', 'latest')).timestamp)).toBe(BigInt(time))
  })
})

describe('a solved block', () => {
  it('203: is imported in each of the three forms, with the pool’s transactions', async () => {
    t = await servedNode({ mining: 'manual', now })
    const forms = [
      async (others: number) => ['mnr_submitBitcoinBlock', (await solved({ others })).block],
      async (others: number) => {
        const { header, coinbase, transactionIds } = await solved({ others })
        return ['mnr_submitBitcoinBlockTransactions', 'ignored', header, coinbase, transactionIds]
      },
      async (others: number) => {
        const { header, coinbase, branch, count } = await solved({ others })
        return ['mnr_submitBitcoinBlockPartialMerkle', 'ignored', header, coinbase, branch, count]
      },
    ]
    let height = 0n
    for (const others of [0, 1, 4, 7]) {
      for (const form of forms) {
        const hash = await transfer()
        const [method, ...params] = (await form(others)) as [string, ...string[]]
        const submitted = await t.call(method, ...params)
        height++
        expect(submitted).toEqual({
          blockImportedResult: IMPORTED_BEST,
          blockHash: expect.any(String),
          blockIncludedHeight: `0x${height.toString(16)}`,
        })
        const head = await t.call('eth_getBlockByNumber', 'latest')
        expect(head.hash).toBe(submitted.blockHash)
        expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({
          blockHash: head.hash,
          status: '0x1',
        })
        expect(await t.call('eth_pendingTransactions')).toEqual([])
      }
    }
  })

  it('is reported as known when it is sent twice, and becomes a side block with another proof', async () => {
    t = await servedNode({ mining: 'manual', now })
    const work = await t.call('mnr_getWork')
    const make = (text: string) =>
      parentBlock({ commitment: work.blockHashForMergedMining, target: work.target, text })
    const first = await t.call('mnr_submitBitcoinBlock', make('one').block)
    const before = await everything(t)
    expect(await t.call('mnr_submitBitcoinBlock', make('one').block)).toEqual({
      ...first,
      blockImportedResult: EXIST,
    })
    expect(await everything(t)).toEqual(before)
    const second = await t.call('mnr_submitBitcoinBlock', make('two').block)
    expect(second).toMatchObject({ blockImportedResult: IMPORTED_NOT_BEST, blockIncludedHeight: '0x1' })
    expect(second.blockHash).not.toBe(first.blockHash)
  })

  it('becomes a side block when it arrives late, and then an uncle', async () => {
    t = await servedNode({ mining: 'manual', now })
    const late = await solved()
    await transfer()
    await t.call('evm_mine')
    const head = await t.call('eth_getBlockByNumber', 'latest')
    const { blockHash, blockImportedResult } = await t.call('mnr_submitBitcoinBlock', late.block)
    expect(blockImportedResult).toBe(IMPORTED_NOT_BEST)
    expect((await t.call('eth_getBlockByNumber', 'latest')).hash).toBe(head.hash)
    expect(await t.call('eth_getBlocksByNumber', '0x1')).toEqual([
      { hash: head.hash, totalDifficulty: '0x2', inMainChain: true },
      { hash: blockHash, totalDifficulty: '0x2', inMainChain: false },
    ])
    // The next work names it as an uncle.
    await t.call('mnr_submitBitcoinBlock', (await solved()).block)
    expect(await t.call('eth_getBlockByNumber', 'latest')).toMatchObject({
      uncles: [blockHash],
      number: '0x2',
      totalDifficulty: '0x4',
    })
  })

  it('uses up only the clock change that its work has used', async () => {
    t = await servedNode({ mining: 'manual', now })
    const stamp = async () => Number((await t.call('eth_getBlockByNumber', 'latest')).timestamp)
    await t.call('evm_setNextBlockTimestamp', now() + 100)
    await t.call('mnr_submitBitcoinBlock', (await solved()).block)
    expect(await stamp()).toBe(now() + 100)
    const unmoved = await solved()
    await t.call('evm_setNextBlockTimestamp', now() + 500)
    await t.call('mnr_submitBitcoinBlock', unmoved.block)
    expect(await stamp()).toBe(now() + 101)
    await t.call('evm_mine')
    expect(await stamp()).toBe(now() + 500)
  })

  it('carries fork detection data from height 449 on', async () => {
    t = await servedNode({ mining: 'manual', now })
    await t.call('evm_mine', { blocks: 448 })
    const work = await t.call('mnr_getWork')
    const { block } = parentBlock({
      commitment: work.blockHashForMergedMining,
      target: work.target,
      others: 2,
    })
    const { blockHash, blockImportedResult } = await t.call('mnr_submitBitcoinBlock', block)
    expect(blockImportedResult).toBe(IMPORTED_BEST)
    const head = await t.call('eth_getBlockByNumber', 'latest')
    expect(head).toMatchObject({ number: '0x1c1', hashForMergedMining: work.blockHashForMergedMining })
    expect(work.blockHashForMergedMining.slice(-8)).toBe('000001c1')
    const header = verifyMergedMining(
      getBytes(await t.call('ext_getRawBlockHeaderByHash', blockHash)),
      {
        merkleProof: getBytes(head.bitcoinMergedMiningMerkleProof),
        coinbaseTransaction: getBytes(head.bitcoinMergedMiningCoinbaseTransaction),
      },
      'regtest',
    )
    expect(header.hashForMergedMining).toBe(work.blockHashForMergedMining)
  })
})

describe('Ethereum’s mining methods', () => {
  it('accept a nonce for the block that the node would mine itself', async () => {
    t = await servedNode({ mining: 'manual', difficulty: 64n, now })
    const [hash] = await t.call('eth_getWork')
    const submit = (nonce: number, work = hash) =>
      t.call('eth_submitWork', `0x${nonce.toString(16).padStart(16, '0')}`, work, Z32)
    let nonce = 0
    for (; nonce < 5_000; nonce++) if (await submit(nonce)) break
    const head = await t.call('eth_getBlockByNumber', 'latest')
    expect(head).toMatchObject({ number: '0x1', hashForMergedMining: hash, difficulty: '0x40' })
    expect(Buffer.from(head.bitcoinMergedMiningHeader.slice(2), 'hex').readUInt32LE(76)).toBe(nonce)
    // The same again lands nowhere, and neither does a nonce for work that was never handed out.
    expect(await submit(nonce)).toBe(false)
    expect(await submit(nonce, `0x${'9'.repeat(64)}`)).toBe(false)
    expect(await t.call('eth_blockNumber')).toBe('0x1')
    for (const params of [
      ['0x01', hash, Z32],
      [`0x${'0'.repeat(16)}`, '0x12', Z32],
      [`0x${'0'.repeat(16)}`, hash, 5],
    ]) {
      expect((await error('eth_submitWork', ...params))?.code).toBe(-32602)
    }
  })

  it('add the hash rates that miners report to that of mined blocks', async () => {
    let time = 2_000_000_000
    t = await servedNode({ mining: 'manual', difficulty: 36_000n, now: () => time })
    const rate = async () => Number(await t.call('eth_hashrate'))
    expect(await rate()).toBe(0)
    expect(await t.call('eth_submitHashrate', `0x${(500).toString(16).padStart(64, '0')}`, Z32)).toBe(true)
    expect(await t.call('eth_submitHashrate', '0x0a', `0x${'1'.repeat(64)}`)).toBe(true)
    expect(await rate()).toBe(510)
    await t.call('evm_mine')
    expect(await rate()).toBe(520)
    time += 60
    expect(await rate()).toBe(10)
    expect((await error('eth_submitHashrate', '0x', Z32))?.code).toBe(-32602)
    expect((await error('eth_submitHashrate', '0x0a', '0x1234'))?.code).toBe(-32602)
  })
})

describe('local mining', () => {
  it('searches for a nonce at the configured difficulty, and the proof is valid', async () => {
    t = await servedNode({ mining: 'auto', difficulty: 50_000n })
    const hash = await transfer()
    const { blockHash } = await t.call('eth_getTransactionReceipt', hash)
    const block = await t.call('eth_getBlockByHash', blockHash)
    expect(block).toMatchObject({ difficulty: '0xc350', totalDifficulty: '0xc351' })
    const header = verifyMergedMining(
      getBytes(await t.call('ext_getRawBlockHeaderByHash', blockHash)),
      {
        merkleProof: getBytes(block.bitcoinMergedMiningMerkleProof),
        coinbaseTransaction: getBytes(block.bitcoinMergedMiningCoinbaseTransaction),
      },
      'regtest',
    )
    expect(header.difficulty).toBe(50_000n)
  })

  it('is refused at a difficulty beyond any search, while work is still served', async () => {
    t = await servedNode({ chain: 'mainnet', mining: 'manual' })
    const refusal = await error('evm_mine')
    expect(refusal).toMatchObject({
      code: -33000,
      message: expect.stringMatching(
        /^Cannot mine here at difficulty \d+: a proof would take about as many hashes\. Start the node with --difficulty, or with --mining manual and a miner that submits work\.$/,
      ),
    })
    expect(await t.call('eth_blockNumber')).toBe('0x0')
    const work = await t.call('mnr_getWork')
    const { difficulty } = await t.call('eth_getBlockByNumber', 'pending')
    expect(BigInt(work.target)).toBe(2n ** 256n / BigInt(difficulty))
  })

  it('yields to the event loop, and ends with the node', async () => {
    t = await servedNode()
    const node = await createNode({ difficulty: 2n ** 32n, mining: 'manual' })
    const mining = node.request({ method: 'evm_mine' })
    const refused = expect(mining).rejects.toMatchObject({
      code: -33000,
      message: 'The node is closing: the search for work ends.',
    })
    for (let i = 0; i < 5; i++) expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x0')
    await node.close()
    await refused
  })
})
