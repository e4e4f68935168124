/** Tokens of each standard, by contracts of OpenZeppelin: what they tell, their transfers and holders. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { BOB, CAROL, deployTokens, type TokenChain } from '../../support/token-chain.ts'

const ZERO = `0x${'0'.repeat(40)}`

let node: Node
let chain: TokenChain
// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
const request = (method: string, ...params: unknown[]): Promise<any> => node.request({ method, params })

beforeAll(async () => {
  node = await createNode()
  chain = await deployTokens(node)
  await chain.use('token', 'transfer', BOB, 250)
  await chain.use('token', 'transfer', CAROL, 50)
  await chain.use('deed', 'mint', BOB, 7)
  await chain.use('deed', 'mint', CAROL, 8)
  await chain.use('deed', 'mint', CAROL, 9)
  await chain.use('goods', 'mint', BOB, [1, 2], [30, 40])
  await chain.use('goods', 'mint', CAROL, [2], [5])
})
afterAll(() => node.close())

describe('evm_token', () => {
  it('returns what contracts of each standard tell, by their events', async () => {
    expect(await request('evm_token', chain.token)).toEqual({
      type: 'erc20',
      address: chain.token,
      name: 'Tandem Token',
      symbol: 'TDM',
      decimals: 18,
      totalSupply: '0x3e8',
    })
    expect(await request('evm_token', chain.deed)).toMatchObject({
      type: 'erc721',
      decimals: null,
      totalSupply: null,
    })
    expect(await request('evm_token', chain.goods)).toMatchObject({
      type: 'erc1155',
      name: null,
      symbol: null,
    })
    expect(await request('evm_token', BOB)).toBe(null)
    const { number } = await request('eth_getBlockByNumber', 'latest', false)
    expect(Number(number)).toBe(10)
    expect(await request('evm_token', chain.token, 'earliest')).toBe(null)
  })

  it('asks contracts without transfers, by their answers', async () => {
    const fresh = await deployTokens(node)
    expect((await request('evm_token', fresh.deed)).type).toBe('erc721')
    expect((await request('evm_token', fresh.goods)).type).toBe('erc1155')
  })
})

describe('evm_tokenTransfers', () => {
  it('returns the transfers of an account, the newest first, page by page', async () => {
    const all = await request('evm_tokenTransfers', { account: BOB })
    const shown = all.transfers.map(({ type, from, amount, tokenId }: Record<string, string | null>) => [
      type,
      from,
      amount,
      tokenId,
    ])
    expect(shown).toEqual([
      ['erc1155', ZERO, '0x28', '0x2'],
      ['erc1155', ZERO, '0x1e', '0x1'],
      ['erc721', ZERO, null, '0x7'],
      ['erc20', chain.alice, '0xfa', null],
    ])
    expect(all.next).toBe(null)
    expect(all.tokens.map(({ address }: { address: Hex }) => address)).toEqual([
      chain.goods,
      chain.deed,
      chain.token,
    ])
    const pages: unknown[] = []
    let before: unknown
    do {
      const page = await request('evm_tokenTransfers', { account: BOB, count: 1, before })
      pages.push(...page.transfers)
      before = page.next
    } while (before !== null)
    expect(pages).toEqual(all.transfers)
    const [, , , first] = all.transfers
    const receipt = await request('eth_getTransactionReceipt', first.transactionHash)
    expect(first).toMatchObject({
      blockHash: receipt.blockHash,
      blockNumber: receipt.blockNumber,
      logIndex: receipt.logs[0].logIndex,
      token: chain.token,
    })
  })

  it('returns those of a token and of a standard', async () => {
    const { transfers } = await request('evm_tokenTransfers', { token: chain.token })
    expect(transfers.map(({ to }: { to: Hex }) => to)).toEqual([CAROL, BOB, chain.alice])
    const ofType = await request('evm_tokenTransfers', { type: 'erc721', fromBlock: 7 })
    expect(ofType.transfers.map(({ tokenId }: { tokenId: Hex }) => tokenId)).toEqual(['0x9', '0x8'])
    await expect(request('evm_tokenTransfers', { kind: 'erc20' })).rejects.toThrow('kind')
  })

  it('forgets those of blocks that a revert removes', async () => {
    const snapshot = await request('evm_snapshot')
    await chain.use('token', 'transfer', BOB, 1)
    const amounts = async () =>
      (await request('evm_tokenTransfers', { account: BOB, type: 'erc20' })).transfers.length
    expect(await amounts()).toBe(2)
    await request('evm_revert', snapshot)
    expect(await amounts()).toBe(1)
  })
})

describe('evm_tokenHolders', () => {
  it('returns who has how much, by what the contracts answer', async () => {
    const { holders, isComplete } = await request('evm_tokenHolders', chain.token)
    expect(isComplete).toBe(true)
    expect(holders).toEqual([
      { account: chain.alice, tokenId: null, balance: '0x2bc' },
      { account: BOB, tokenId: null, balance: '0xfa' },
      { account: CAROL, tokenId: null, balance: '0x32' },
    ])
    expect((await request('evm_tokenHolders', chain.deed)).holders).toEqual([
      { account: CAROL, tokenId: null, balance: '0x2' },
      { account: BOB, tokenId: null, balance: '0x1' },
    ])
    expect((await request('evm_tokenHolders', chain.goods)).holders).toEqual([
      { account: BOB, tokenId: '0x2', balance: '0x28' },
      { account: BOB, tokenId: '0x1', balance: '0x1e' },
      { account: CAROL, tokenId: '0x2', balance: '0x5' },
    ])
  })
})

describe('a moment', () => {
  const heldAt = async (...moment: unknown[]) =>
    (await request('evm_tokenHolders', chain.token, ...moment))?.holders.map(
      ({ account, balance }: { account: Hex; balance: Hex }) => [account, Number(balance)],
    )

  it('is after a block, or after the first transactions of one', async () => {
    // The contracts are made in blocks 1 to 3, the first transfer is in block 4.
    expect(await heldAt('0x0')).toBe(undefined)
    expect(await heldAt('0x3')).toEqual([[chain.alice, 1000]])
    const sold = [
      [chain.alice, 750],
      [BOB, 250],
    ]
    expect(await heldAt('0x4', 0)).toEqual([[chain.alice, 1000]])
    expect(await heldAt('0x4', 1)).toEqual(sold)
    expect(await heldAt('0x4', null)).toEqual(sold)
    expect(await request('evm_token', chain.token, '0x1', 0)).toBe(null)
    expect(await request('evm_token', chain.token, '0x1', 1)).toMatchObject({ totalSupply: '0x3e8' })
    await expect(heldAt('0xffff')).rejects.toMatchObject({ message: 'Block not found' })
  })
})

describe('evm_tokens', () => {
  it('asks no further contract after five seconds, and neither do the other methods', async () => {
    let now = performance.now()
    // Each reading of the clock is six seconds later.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6000))
    try {
      expect(await request('evm_tokens')).toEqual([])
      expect(await request('evm_tokenHolders', chain.token)).toEqual({ holders: [], isComplete: false })
      const { transfers, tokens } = await request('evm_tokenTransfers', { token: chain.token })
      expect(transfers.length).toBeGreaterThan(0)
      expect(tokens).toMatchObject([{ type: 'erc20', address: chain.token, name: null }])
    } finally {
      clock.mockRestore()
    }
  })

  it('returns the tokens with transfers, the latest first', async () => {
    const tokens = await request('evm_tokens')
    expect(tokens.map(({ address }: { address: Hex }) => address).slice(0, 3)).toContain(chain.goods)
    expect(tokens.map(({ symbol }: { symbol: string | null }) => symbol)).toContain('TDM')
  })
})
