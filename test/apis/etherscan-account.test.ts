/** Etherscan's modules about accounts and the chain, compared with receipts and JSON-RPC of the same node. */
import { AbiCoder, id as topicOfText, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { BlockStore } from '../../src/store/block-store.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { assemble } from '../support/assembler.ts'
import { buildInfo, deploy, word } from '../support/build-infos.ts'
import { artifact } from '../support/contracts.ts'

const coder = AbiCoder.defaultAbiCoder()
const TRANSFER = topicOfText('Transfer(address,address,uint256)')
const SINGLE = topicOfText('TransferSingle(address,address,address,uint256,uint256)')
const BATCH = topicOfText('TransferBatch(address,address,address,uint256[],uint256[])')
const BOB: Hex = '0x00000000000000000000000000000000000000b0'
const CAROL: Hex = '0x00000000000000000000000000000000000000c0'

/** Emits logs of its input (`fixtures/contracts/Emitter.sol`), and answers 18 to calls. */
const EMITTER = artifact('Emitter').deployedBytecode

let node: Node
let server: Server
let alice: Hex
let token: Hex
beforeAll(async () => {
  node = await createNode({ now: () => 1_700_000_000 })
  server = await serve(node, { port: 0 })
  ;[alice] = (await node.request({ method: 'eth_accounts' })) as [Hex]
  token = '0x00000000000000000000000000000000000000e0'
  await node.override(token, { code: EMITTER as Hex })
})
afterAll(async () => {
  await server.close()
  await node.close()
})

const send = async (transaction: object) =>
  (await node.request({
    method: 'eth_sendTransaction',
    params: [{ from: alice, gas: '0x100000', ...transaction }],
  })) as Hex
const emit = (topics: readonly string[], data: string, to = token) =>
  send({
    to,
    data: `0x${word(BigInt(topics.length))}${[...topics, data].map((hex) => hex.slice(2)).join('')}`,
  })
const address = (of: Hex) => zeroPadValue(of, 32)
const uint = (value: bigint) => `0x${word(value)}`

async function get(query: Record<string, string>) {
  const reply = await fetch(`${server.url}/api?${new URLSearchParams(query)}`)
  return (await reply.json()) as { status: string; message: string; result: unknown }
}
const rows = async (action: string, query: Record<string, string> = {}) =>
  (await get({ module: 'account', action, ...query })).result as Record<string, string>[]

describe('accounts', () => {
  it('have balances', async () => {
    await send({ to: BOB, value: '0x7b' })
    expect(
      await get({ module: 'account', action: 'balance', address: BOB.toUpperCase().replace('X', 'x') }),
    ).toEqual({
      status: '1',
      message: 'OK',
      result: '123',
    })
    expect(await rows('balancemulti', { address: `${BOB},${CAROL}` })).toEqual([
      { account: BOB, balance: '123' },
      { account: CAROL, balance: '0' },
    ])
    expect(await get({ module: 'account', action: 'balance', address: BOB, tag: '0x0' })).toMatchObject({
      result: '0',
    })
    expect(await rows('tokenbalance', { contractaddress: token, address: BOB })).toBe('18')
  })

  it('list transactions as receipts have them, by pages in both orders', async () => {
    const hashes: Hex[] = []
    for (let i = 1; i <= 7; i++) hashes.push(await send({ to: CAROL, value: `0x${i}` }))
    const all = await rows('txlist', { address: CAROL })
    expect(all.map(({ hash }) => hash)).toEqual(hashes)
    const receipt = (await node.request({
      method: 'eth_getTransactionReceipt',
      params: [hashes[2]],
    })) as Record<string, string>
    expect(all[2]).toMatchObject({
      blockHash: receipt.blockHash,
      blockNumber: String(Number(receipt.blockNumber)),
      gasUsed: String(Number(receipt.gasUsed)),
      from: alice,
      to: CAROL,
      value: '3',
      isError: '0',
      txreceipt_status: '1',
      input: '0x',
    })
    const page = { address: CAROL, page: '2', offset: '3' }
    const shown = async (query: object) =>
      (await rows('txlist', { ...page, ...query })).map(({ hash }) => hash)
    expect(await shown({})).toEqual(hashes.slice(3, 6))
    expect(await shown({ sort: 'desc' })).toEqual([...hashes].reverse().slice(3, 6))
    const range = { page: '1', startblock: all[1]?.blockNumber, endblock: all[2]?.blockNumber }
    expect(await shown(range)).toEqual(hashes.slice(1, 3))
    expect(await shown({ ...range, sort: 'desc' })).toEqual(hashes.slice(1, 3).reverse())
  })

  it('list failed transactions, creations and calls inside', async () => {
    const info = buildInfo('solc-0.8.24')
    await node.addSources(info)
    const library = await deploy(node, info, 'Sums')
    const maker = await deploy(node, info, 'Maker', { libraries: { Sums: library } })
    expect((await rows('txlist', { address: maker }))[0]).toMatchObject({ contractAddress: maker, to: '' })
    const hash = await send({ to: maker, data: `0x${topicOfText('make(uint256)').slice(2, 10)}${word(5n)}` })
    const inner = await rows('txlistinternal', { txhash: hash })
    expect(inner).toEqual([
      expect.objectContaining({ hash, type: 'create', from: maker, isError: '0', traceId: '0' }),
    ])
    const made = inner[0]?.contractAddress ?? ''
    expect(await rows('txlistinternal', { address: made })).toEqual(inner)
    const { blockNumber = '' } = inner[0] ?? {}
    expect(await rows('txlistinternal', { startblock: blockNumber, endblock: blockNumber })).toEqual(
      expect.arrayContaining(inner),
    )
    await send({ to: maker, data: '0x00000001' }).catch(() => {})
    const [last] = await rows('txlist', { address: maker, sort: 'desc' })
    expect(last).toMatchObject({ isError: '1', txreceipt_status: '0' })
    const status = await get({ module: 'transaction', action: 'getstatus', txhash: last?.hash ?? '' })
    expect(status.result).toMatchObject({ isError: '1' })
    expect((await get({ module: 'transaction', action: 'gettxreceiptstatus', txhash: hash })).result).toEqual(
      { status: '1' },
    )
  })

  it('list transfers of tokens of each standard', async () => {
    const transfer = await emit([TRANSFER, address(BOB), address(CAROL)], uint(500n))
    const toSelf = await emit([TRANSFER, address(BOB), address(BOB)], uint(1n))
    const nft = await emit([TRANSFER, address(BOB), address(CAROL), uint(77n)], '0x')
    const pair = coder.encode(['uint256', 'uint256'], [9, 10])
    const single = await emit([SINGLE, address(alice), address(BOB), address(CAROL)], pair)
    const lists = coder.encode(
      ['uint256[]', 'uint256[]'],
      [
        [1, 2],
        [30, 40],
      ],
    )
    const batch = await emit([BATCH, address(alice), address(CAROL), address(BOB)], lists)
    // Lengths that exceed the data are no transfers.
    await emit([BATCH, address(alice), address(CAROL), address(BOB)], `0x${word(32n)}${word(2n ** 255n)}`)

    expect(await rows('tokentx', { address: BOB })).toMatchObject([
      { hash: transfer, from: BOB, to: CAROL, value: '500', contractAddress: token, tokenDecimal: '18' },
      { hash: toSelf, from: BOB, to: BOB, value: '1' },
    ])
    expect(await rows('tokentx', { address: CAROL, contractaddress: token })).toMatchObject([
      { hash: transfer },
    ])
    expect(await rows('tokentx', { contractaddress: BOB })).toEqual([])
    expect(await rows('tokennfttx', { contractaddress: token })).toMatchObject([{ hash: nft, tokenID: '77' }])
    expect(await rows('token1155tx', { address: BOB, sort: 'desc' })).toMatchObject([
      { hash: batch, tokenID: '2', tokenValue: '40', from: CAROL },
      { hash: batch, tokenID: '1', tokenValue: '30' },
      { hash: single, tokenID: '9', tokenValue: '10', to: CAROL },
    ])
    expect(await get({ module: 'account', action: 'tokentx', address: alice })).toEqual({
      status: '0',
      message: 'No transactions found',
      result: [],
    })
  })

  it('refuse in Etherscan’s words', async () => {
    const message = async (query: Record<string, string>) =>
      (await get({ module: 'account', ...query })).result
    expect(await message({ action: 'txlist', address: BOB, page: '11', offset: '1000' })).toMatch(
      /^Result window is too large/,
    )
    expect(await message({ action: 'txlist', address: BOB, startblock: '-1' })).toBe(
      'Error! Invalid startblock',
    )
    expect(await message({ action: 'tokentx' })).toBe('Error! Missing address')
    expect(await message({ action: 'txlistinternal', txhash: '0x12' })).toBe(
      'Error! Invalid transaction hash format',
    )
    expect(await message({ action: 'balancemulti', address: Array(21).fill(BOB).join() })).toMatch(
      /Maximum of 20/,
    )
  })
})

describe('the chain', () => {
  it('has logs, by topics and by one of several', async () => {
    const first = await emit([topicOfText('A()'), uint(1n)], '0x01')
    const second = await emit([topicOfText('B()'), uint(2n)], '0x02')
    const logs = async (query: Record<string, string>) =>
      (
        (await get({ module: 'logs', action: 'getLogs', address: token, ...query })).result as {
          transactionHash: string
        }[]
      ).map(({ transactionHash }) => transactionHash)
    expect(await logs({ topic0: topicOfText('A()') })).toEqual([first])
    expect(await logs({ topic0: topicOfText('A()'), topic1: uint(2n) })).toEqual([])
    const either = { topic0: topicOfText('A()'), topic1: uint(2n), topic0_1_opr: 'or' }
    expect(await logs(either)).toEqual([first, second])
    expect(await logs({ ...either, page: '2', offset: '1' })).toEqual([second])
    const [row] = (await get({ module: 'logs', action: 'getLogs', topic0: topicOfText('A()') }))
      .result as Record<string, string>[]
    const [own] = (await node.request({
      method: 'eth_getLogs',
      params: [{ fromBlock: '0x0', topics: [topicOfText('A()')] }],
    })) as Record<string, string>[]
    for (const name of [
      'address',
      'data',
      'blockNumber',
      'blockHash',
      'logIndex',
      'transactionIndex',
      'topics',
    ]) {
      expect(row?.[name]).toEqual(own?.[name])
    }
  })

  it('has blocks by time, rewards and miners', async () => {
    const head = (await node.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    })) as Record<string, string>
    const number = Number(head.number)
    const block = async (action: string, query: Record<string, string>) =>
      (await get({ module: 'block', action, ...query })).result
    expect(await block('getblockreward', { blockno: String(number) })).toMatchObject({
      blockMiner: head.miner,
      timeStamp: String(Number(head.timestamp)),
    })
    const timestamp = String(Number(head.timestamp))
    expect(await block('getblocknobytime', { timestamp, closest: 'before' })).toBe(String(number))
    const at = async (of: number) =>
      Number(
        (
          (await node.request({
            method: 'eth_getBlockByNumber',
            params: [`0x${of.toString(16)}`, false],
          })) as {
            timestamp: string
          }
        ).timestamp,
      )
    const found = Number(
      await block('getblocknobytime', { timestamp: String((await at(3)) - 1), closest: 'after' }),
    )
    expect(await at(found)).toBeGreaterThanOrEqual((await at(3)) - 1)
    expect(found === 0 || (await at(found - 1)) < (await at(3)) - 1).toBe(true)
    expect(await block('getblockcountdown', { blockno: '1' })).toBe('Error! Block number already pass')
    const mined = await rows('getminedblocks', { address: head.miner ?? '', page: '1', offset: '2' })
    expect(mined.map(({ blockNumber }) => blockNumber)).toEqual([String(number), String(number - 1)])
  })

  it('answers methods of JSON-RPC, supplies and prices', async () => {
    expect(await get({ module: 'proxy', action: 'eth_getBalance', address: BOB, tag: 'latest' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: '0x7b',
    })
    const bad = (await get({ module: 'proxy', action: 'eth_getCode', address: 'x' })) as object
    expect(bad).toMatchObject({ error: { code: -32602 } })
    expect((await get({ module: 'stats', action: 'tokensupply', contractaddress: token })).result).toBe('18')
    expect((await get({ module: 'gastracker', action: 'gasoracle' })).result).toMatchObject({
      LastBlock: String(Number(await node.request({ method: 'eth_blockNumber' }))),
    })
  })
})

/** Emits as many transfers of ERC-20 as the first word says, from the caller to the account in the second. */
const TRANSFERRER = assemble(`
  0 CALLDATALOAD
  loop: DUP1 ISZERO @end JUMPI
  DUP1 0 MSTORE
  32 CALLDATALOAD CALLER PUSH32 ${TRANSFER} 32 0 LOG3
  1 SWAP1 SUB @loop JUMP
  end: STOP`)

describe('the blocks of a miner', () => {
  it('are found by an index, across its sections and after a revert', async () => {
    const chain = await createNode()
    const own = await serve(chain, { port: 0 })
    const list = async (miner: Hex) => {
      const query = { module: 'account', action: 'getminedblocks', address: miner }
      const reply = await fetch(`${own.url}/api?${new URLSearchParams(query)}`)
      return ((await reply.json()) as { result: { blockNumber: string }[] }).result.map(
        (row) => row.blockNumber,
      )
    }
    const mineAs = async (miner: Hex, blocks: number) => {
      await chain.request({ method: 'hardhat_setCoinbase', params: [miner] })
      await chain.engine.commands.mine({ blocks })
    }
    await mineAs(BOB, 3)
    await mineAs(CAROL, 1100)
    const snapshot = await chain.request({ method: 'evm_snapshot' })
    await mineAs(BOB, 2)
    const heads = vi.spyOn(chain.engine.queries, 'block')
    expect(await list(BOB)).toEqual(['1105', '1104', '3', '2', '1'])
    expect(heads).not.toHaveBeenCalled()
    expect((await list(CAROL)).length).toBe(1100)
    await chain.request({ method: 'evm_revert', params: [snapshot] })
    expect(await list(BOB)).toEqual(['3', '2', '1'])
    await own.close()
    await chain.close()
  })
})

describe('the work of a list of transfers', () => {
  it('is that of the transfers, and not of the chain', async () => {
    const chain = await createNode()
    const [from] = (await chain.request({ method: 'eth_accounts' })) as [Hex]
    await chain.override(token, { code: toHex(TRANSFERRER) })
    const transfer = (count: number, to: Hex) =>
      chain.request({
        method: 'eth_sendTransaction',
        params: [{ from, to: token, gas: '0x300000', data: `0x${word(BigInt(count))}${word(to)}` }],
      })
    for (let i = 0; i < 20; i++) {
      await transfer(500, BOB)
      await chain.engine.commands.mine({ blocks: 25 })
      await transfer(3, CAROL)
    }
    const read = new Set<Hex>()
    const note = (hash: Hex) => read.add(hash)
    const { get, logBlock } = BlockStore.prototype
    const spies = [
      vi.spyOn(BlockStore.prototype, 'get').mockImplementation(function (this: BlockStore, hash) {
        note(hash)
        return get.call(this, hash)
      }),
      vi.spyOn(BlockStore.prototype, 'logBlock').mockImplementation(function (
        this: BlockStore,
        hash,
        height,
      ) {
        note(hash)
        return logBlock.call(this, hash, height)
      }),
    ]
    try {
      const own = await serve(chain, { port: 0 })
      const query = { module: 'account', action: 'tokentx', address: BOB, sort: 'desc' }
      const reply = await fetch(`${own.url}/api?${new URLSearchParams(query)}`)
      const { result } = (await reply.json()) as { result: { value: string; blockHash: Hex }[] }
      await own.close()
      expect(result.map(({ value }) => value)).toEqual(
        Array.from({ length: 10_000 }, (_, i) => String(1 + (i % 500))),
      )
      expect(read).toEqual(new Set(result.map(({ blockHash }) => blockHash)))
      expect(read.size).toBe(20)
    } finally {
      for (const spy of spies) spy.mockRestore()
      await chain.close()
    }
  })
})
