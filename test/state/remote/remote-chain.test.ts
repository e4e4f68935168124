/** Forks of a served node of our own: what they have comes over the network, and is compared with what the node has. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import type { StateItem } from '../../../src/state/remote/model.ts'
import { openRemoteChain } from '../../../src/state/remote/remote-chain.ts'
import type { RemoteSettings } from '../../../src/upstream/settings.ts'
import {
  changed,
  type Fault,
  type FaultProxy,
  type Message,
  reset,
  tooManyInBatch,
} from '../../support/fault-proxy.ts'
import { CODE, type ForkedNode, forkedNode, NOBODY } from '../../support/forked-node.ts'
import { saying } from '../../support/refusals.ts'
import { remoteSettings, testClock, testDeps } from '../../support/remote.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'

let node: ServedNode
let proxy: FaultProxy
let fork: ForkedNode['fork']
let hashAt: ForkedNode['hashAt']
let slots: ForkedNode['slots']
let from: Hex
let contract: Hex
let creation: Hex
const forked = forkedNode()
beforeAll(() => {
  ;({ node, proxy, fork, hashAt, slots, from, contract, creation } = forked())
})

describe('the fork point', () => {
  it('is the tip unless another block is named', async () => {
    expect((await fork()).point).toEqual({ chainId: 33, number: 3, hash: await hashAt(3) })
    expect((await fork({ block: { number: 1 } })).point.number).toBe(1)
    expect((await fork({ block: { number: -1 } })).point.number).toBe(2)
    expect((await fork({ block: { tag: 'earliest' } })).point.number).toBe(0)
    expect((await fork({ block: { hash: await hashAt(2) } })).point.number).toBe(2)
  })

  it('of a transaction is the parent of its block, which is fetched together with it', async () => {
    const chain = await fork({ transaction: creation })
    expect(chain.point.number).toBe(1)
    expect(chain.transaction?.index).toBe(0)
    expect(chain.transaction?.block.block.transactions[0]?.hash).toBe(creation)
    expect(await chain.blockByNumber(2)).toBeUndefined()
  })

  it('takes three requests', async () => {
    const before = proxy.bodies.length
    const chain = await fork()
    expect(proxy.bodies.length - before).toBe(3)
    expect(chain.usage()).toMatchObject({ requests: 3, retries: 0, rateLimited: 0 })
  })

  it.each<[string, Partial<RemoteSettings>, RegExp]>([
    [
      'another chain',
      { chainId: 30 },
      /is of chain id 33, not 30 as --fork-chain-id asks\. Name a node of chain 30 with --fork, or change --fork-chain-id\./,
    ],
    [
      'a block beyond the tip',
      { block: { number: 99 } },
      /has no block 99: its tip is block 3\. Choose another with --fork-block, such as latest or -10\./,
    ],
    [
      'a block below genesis',
      { block: { number: -9 } },
      /has no block 9 below its tip, which is block 3\. Choose another with --fork-block\./,
    ],
    [
      'an unknown hash',
      { block: { hash: toFixedHex(1n, 32) } },
      /has no block 0x0+1: its tip is block 3, and it does not serve this one\. Choose another with --fork-block, such as latest or -10\./,
    ],
    [
      'a tag that it lacks',
      { block: { tag: 'safe' } },
      /refused the block "safe": .*\. Name a height or a hash with --fork-block\./,
    ],
    [
      'an unknown transaction',
      { transaction: toFixedHex(1n, 32) },
      /has no mined transaction 0x0+1\. Check --fork-transaction-hash, and that the URL is of its network\./,
    ],
  ])('that is %s is refused with the remedy', async (_, settings, sentence) => {
    await expect(fork(settings)).rejects.toMatchObject({
      kind: 'upstream',
      message: expect.stringMatching(`^The upstream ${proxy.url} ${sentence.source}$`),
    })
  })

  it('with pruned state is refused with the remedy', async () => {
    const pruned = { code: -32000, message: 'missing trie node 0xabc' }
    proxy.push(
      async ({ forward, response }) => response.end(JSON.stringify(await forward())) as never,
      changed((reply) => reply.map(({ id }: Message) => ({ jsonrpc: '2.0', id, error: pruned }))),
    )
    await expect(fork()).rejects.toThrow(
      /does not serve the state of block 3 \(0x\w+\); .*Fork a later block .* archive node .*missing trie node/,
    )
  })

  it('is detected when it has left the chain', async () => {
    const chain = await fork()
    expect(await chain.isPointCanonical()).toBe(true)
    proxy.push(changed((reply) => ({ ...reply, result: { ...reply.result, hash: toFixedHex(5n, 32) } })))
    expect(await chain.isPointCanonical()).toBe(false)
  })
})

describe('the chain', () => {
  it('has blocks with transactions and receipts', async () => {
    const chain = await fork()
    expect(chain.head.block.header.number).toBe(3)
    for (const number of [0, 1, 2, 3]) {
      const block = await chain.blockByNumber(number)
      const own = await node.node.engine.queries.block({ number })
      expect(block?.hash).toBe(own?.executed.hash)
      expect(block?.block).toEqual(own?.executed.block)
      expect(block?.receipts).toEqual(own?.executed.receipts)
      expect(block?.totalDifficulty).toBe(own?.executed.totalDifficulty)
      expect(chain.knownHash(number)).toBe(own?.executed.hash)
    }
    expect(await chain.blockByNumber(4)).toBeUndefined()
    expect(await chain.blockByHash(toFixedHex(7n, 32))).toBeUndefined()
  })

  it('finds transactions and logs', async () => {
    const chain = await fork()
    expect(await chain.transactionLocation(creation)).toEqual({
      block: { number: 2, hash: await hashAt(2) },
      index: 0,
    })
    expect(await chain.transactionLocation(toFixedHex(7n, 32))).toBeUndefined()
    const logs = await chain.logs({ range: { from: 0, to: 99 }, addresses: [contract], topics: [] })
    expect(logs).toEqual([
      {
        log: { address: contract, topics: [toFixedHex(0n, 32)], data: new Uint8Array(32) },
        block: { number: 2, hash: await hashAt(2) },
        transactionHash: creation,
        transactionIndex: 0,
        logIndex: 0,
      },
    ])
    const ofBlock = { range: { blockHash: await hashAt(2) }, addresses: [], topics: [[toFixedHex(0n, 32)]] }
    // Answers for ranges do not state the timestamp.
    expect(await chain.logs(ofBlock)).toMatchObject(logs.map(({ timestamp: _, ...log }) => log))
  })

  it('requests logs in ranges that the upstream accepts', async () => {
    const chain = await fork()
    proxy.always(async ({ body, forward, response }) => {
      const [{ fromBlock, toBlock }] = body.params
      const error = { code: -32005, message: 'block range is too wide' }
      const isLong = Number(toBlock) - Number(fromBlock) > 0
      response.end(JSON.stringify(isLong ? { jsonrpc: '2.0', id: body.id, error } : await forward()))
    })
    onTestFinished(() => proxy.always(undefined))
    expect(await chain.logs({ range: { from: 0, to: 3 }, addresses: [], topics: [] })).toHaveLength(1)
  })

  it('reads the blocks of a node that hides REMASC', async () => {
    const hiding = await servedNode({ hideRemasc: true })
    onTestFinished(() => hiding.close())
    await hiding.call('evm_mine')
    const chain = await openRemoteChain(remoteSettings([hiding.url]), testDeps())
    onTestFinished(() => chain.close())
    expect(chain.head.block.transactions).toHaveLength(1)
    expect(chain.head.block.transactions[0]?.isRemasc).toBe(true)
  })

  it('continues at another URL of the same chain, and keeps its URL when the new one is of another chain', async () => {
    const chain = await fork()
    const other = await servedNode({ chainId: 77 })
    onTestFinished(() => other.close())
    await expect(chain.setUrls([other.url])).rejects.toThrow(
      saying(
        `The upstream ${other.url} does not have block 3 (${chain.point.hash}), which this fork stands on. The former URL stays; fork again with anvil_reset.`,
      ),
    )
    expect(await chain.request('eth_chainId', [])).toBe('0x21')
    await chain.setUrls([node.url])
    const before = proxy.bodies.length
    expect(await chain.request('eth_blockNumber', [])).toBe('0x3')
    expect(proxy.bodies.length).toBe(before)
  })
})

describe('the state', () => {
  it('has only what was fetched', async () => {
    const state = (await fork()).stateAt((await fork()).point)
    expect(state.account(NOBODY)).toBeUndefined()
    expect(state.cell(contract, 0n)).toBeUndefined()
    const before = proxy.bodies.length
    await state.fetch([
      { kind: 'account', address: NOBODY },
      { kind: 'account', address: contract },
      ...slots(60),
    ])
    // Two accounts, and one list of all slots: a node of ours serves both in one call each.
    expect(proxy.bodies.length - before).toBe(1)
    expect(proxy.bodies.at(-1)).toHaveLength(3)
    expect(state.account(NOBODY)?.account).toMatchObject({ balance: 5n, nonce: 0n, isContract: false })
    const account = state.account(contract)?.account
    expect(account).toMatchObject({ nonce: 0n, isContract: true })
    expect(Buffer.from(state.code(account?.codeHash as Hex) ?? []).toString('hex')).toBe(CODE.slice(2))
    expect([0n, 1n, 4n, 5n, 59n].map((slot) => state.cell(contract, slot))).toEqual([1n, 2n, 5n, 0n, 0n])
    await state.fetch(slots(60))
    expect(proxy.bodies.length - before).toBe(1)
  })

  it('of another block is that of the block', async () => {
    const chain = await fork()
    const state = chain.stateAt({ number: 1, hash: await hashAt(1) })
    await state.fetch([
      { kind: 'account', address: contract },
      { kind: 'account', address: NOBODY },
    ])
    expect(state.account(contract)).toMatchObject({ account: undefined })
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
  })

  it('has the accesses of a call, and its output', async () => {
    const state = (await fork()).stateAt((await fork()).point)
    const hint = await state.hint({ from, to: contract })
    expect(hint).toContainEqual({ kind: 'cell', address: contract, slot: 0n })
    const bridge = {
      to: '0x0000000000000000000000000000000001000006' as Hex,
      data: Buffer.from('802ad4b6', 'hex'),
    }
    // getFederationSize() of the Bridge: on the local network three.
    const size = await node.call(
      'eth_call',
      { to: bridge.to, data: `0x${bridge.data.toString('hex')}` },
      'latest',
    )
    expect(`0x${Buffer.from(await state.call(bridge)).toString('hex')}`).toBe(size)
    // PUSH1 0 PUSH1 0 REVERT, as the code of a creation.
    const reverting = { from, data: Uint8Array.of(0x60, 0, 0x60, 0, 0xfd) }
    await expect(state.call(reverting)).rejects.toMatchObject({ kind: 'reverted' })
  })

  it.each<[string, Fault]>([
    [
      'a missing balance',
      changed((reply) =>
        reply.map((one: Message) => ({ ...one, result: { ...one.result, balance: undefined } })),
      ),
    ],
    [
      'too few slots',
      changed((reply) =>
        reply.map((one: Message) => (one.result.code ? one : { ...one, result: { [contract]: ['0x1'] } })),
      ),
    ],
    [
      'slots of another account',
      changed((reply) =>
        reply.map((one: Message) =>
          one.result.code ? one : { ...one, result: { [NOBODY]: one.result[contract] } },
        ),
      ),
    ],
    ['null', changed((reply) => reply.map((one: Message) => ({ ...one, result: null })))],
    ['text', changed((reply) => reply.map((one: Message) => ({ ...one, result: 'nothing' })))],
  ])('ignores an answer with %s', async (_, fault) => {
    const state = (await fork()).stateAt((await fork()).point)
    const items: StateItem[] = [{ kind: 'account', address: NOBODY }, ...slots(3)]
    proxy.push(fault)
    await expect(state.fetch(items)).rejects.toThrow(
      new RegExp(
        `^The upstream ${proxy.url} gave a wrong answer: eth_(getAccountInfo|getStorageValues) .*\\. Nothing of it was used; try again, or fork from another URL\\.$`,
      ),
    )
    expect(state.account(NOBODY)).toBeUndefined()
    expect(state.cell(contract, 0n)).toBeUndefined()
    await state.fetch(items)
    expect(state.cell(contract, 0n)).toBe(1n)
  })

  it('is complete after connection resets, and refusals inside of batches', async () => {
    const clock = testClock()
    const chain = await fork({}, testDeps({ clock }))
    proxy.push(reset, tooManyInBatch([0, 2], { code: 429, message: 'slow down', data: { retry_after: 2 } }))
    const state = chain.stateAt(chain.point)
    await state.fetch([
      { kind: 'account', address: NOBODY },
      { kind: 'account', address: contract },
      ...slots(5),
    ])
    expect(state.cell(contract, 4n)).toBe(5n)
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
    expect(chain.usage()).toMatchObject({ retries: 2, rateLimited: 1 })
    expect(clock.waits).toEqual([187.5, 2100])
  })
})
