/** Forks of a node that gives wrong answers, or none: nothing wrong gets in, and what was cached stays usable. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import type { StateItem } from '../../../src/state/remote/model.ts'
import { answering, changed, type Fault, type FaultProxy, type Message } from '../../support/fault-proxy.ts'
import { type ForkedNode, forkedNode, NOBODY } from '../../support/forked-node.ts'
import { saying } from '../../support/refusals.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let proxy: FaultProxy
let fork: ForkedNode['fork']
let hashAt: ForkedNode['hashAt']
let contract: Hex
const forked = forkedNode()
beforeAll(() => {
  ;({ proxy, fork, hashAt, contract } = forked())
})

const OTHER = { address: NOBODY, topics: [], data: '0x09' }

/** A receipt whose first log has another address, topics or data. */
function withOtherLog(receipt: Message, member: keyof typeof OTHER): Message {
  const [first, ...rest] = receipt.logs
  if (first === undefined) return receipt
  return { ...receipt, logs: [{ ...first, [member]: OTHER[member] }, ...rest] }
}

describe('a wrong block', () => {
  const ofBlock = (change: (block: Message) => Message): Fault =>
    changed((reply) =>
      reply.map((one: Message) => (one.result?.parentHash ? { ...one, result: change(one.result) } : one)),
    )
  it.each<[string, Fault, RegExp]>([
    [
      'of another hash',
      ofBlock((block) => ({ ...block, hash: toFixedHex(9n, 32) })),
      /block 0x\w+ was asked for, and 0x0+9 answered/,
    ],
    [
      'of another height',
      ofBlock((block) => ({ ...block, number: '0x9' })),
      /the raw header of block 9 is that of block 2/,
    ],
    [
      'with another balance of a transaction',
      ofBlock((block) => ({
        ...block,
        transactions: block.transactions.map((one: Message) => ({ ...one, value: '0x77' })),
      })),
      /transaction 0x\w+ has fields that do not hash to its hash in block 2/,
    ],
    [
      'without a transaction',
      ofBlock((block) => ({ ...block, transactions: block.transactions.slice(1) })),
      /the receipts of block 2 are not those of its transactions/,
    ],
    [
      'without a field',
      ofBlock(({ gasLimit: _, ...block }) => block),
      /eth_getBlockByHash has no valid gasLimit/,
    ],
    [
      'with other gas in a receipt',
      changed((reply) =>
        reply.map((one: Message) =>
          Array.isArray(one.result)
            ? { ...one, result: one.result.map((receipt: Message) => ({ ...receipt, gasUsed: '0x1' })) }
            : one,
        ),
      ),
      /the receipts of block 2 have another root than its header/,
    ],
    ...(['address', 'topics', 'data'] as const).map((member): [string, Fault, RegExp] => [
      `with other ${member} of a log`,
      changed((reply) =>
        reply.map((one: Message) =>
          Array.isArray(one.result)
            ? { ...one, result: one.result.map((receipt: Message) => withOtherLog(receipt, member)) }
            : one,
        ),
      ),
      /the receipts of block 2 have another root than its header/,
    ]),
    [
      'without a log',
      changed((reply) =>
        reply.map((one: Message) =>
          Array.isArray(one.result)
            ? { ...one, result: one.result.map((receipt: Message) => ({ ...receipt, logs: [] })) }
            : one,
        ),
      ),
      /the receipts of block 2 have another root than its header/,
    ],
    ...(['stateRoot', 'receiptsRoot', 'parentHash'] as const).map((member): [string, Fault, RegExp] => [
      `with another ${member}, and without a raw header`,
      changed((reply) =>
        reply.map((one: Message) => {
          if (typeof one.result === 'string') return { ...one, result: null }
          return one.result?.parentHash
            ? { ...one, result: { ...one.result, [member]: toFixedHex(9n, 32) } }
            : one
        }),
      ),
      /the header of block 2 hashes to 0x\w+, not to 0x\w+/,
    ]),
    [
      'with a changed raw header',
      changed((reply) =>
        reply.map((one: Message) =>
          typeof one.result === 'string' ? { ...one, result: `${one.result.slice(0, -2)}ff` } : one,
        ),
      ),
      /the header of block 2 hashes to 0x\w+, not to 0x\w+/,
    ],
  ])('%s is refused', async (_, fault, sentence) => {
    const chain = await fork()
    const hash = await hashAt(2)
    proxy.push(fault)
    await expect(chain.blockByHash(hash)).rejects.toMatchObject({
      kind: 'upstream',
      message: expect.stringMatching(
        `^The upstream ${proxy.url} gave a wrong answer: (${sentence.source})\\. Nothing of it was used; try again, or fork from another URL\\.$`,
      ),
    })
  })
})

const OFFLINE =
  'Run once without --fork-offline, fetch it ahead with tandem fork warm, or import a cache that has it.'

describe('the cache of a fork', () => {
  const items: StateItem[] = [{ kind: 'account', address: NOBODY }]

  it('reduces the next start to one request, and to none offline', async () => {
    const cacheDir = temporaryFolder()
    const first = await fork({ cacheDir, block: { number: 3 } })
    await first.stateAt(first.point).fetch(items)
    await first.blockByNumber(2)
    await first.close()

    let before = proxy.bodies.length
    const second = await fork({ cacheDir, block: { number: 3 } })
    expect(proxy.bodies.length - before).toBe(1)
    expect(second.stateAt(second.point).account(NOBODY)?.account?.balance).toBe(5n)
    await second.close()

    before = proxy.bodies.length
    const offline = await fork({ cacheDir, isOffline: true })
    expect(offline.point).toEqual(first.point)
    expect(offline.head).toEqual(first.head)
    expect((await offline.blockByNumber(2))?.hash).toBe(await hashAt(2))
    const state = offline.stateAt(offline.point)
    await state.fetch(items)
    await expect(state.fetch([{ kind: 'cell', address: contract, slot: 3n }])).rejects.toThrow(
      saying(
        `Offline, and the cache does not have slot 0x3 of ${contract} at block 3 (${first.point.hash}). ${OFFLINE}`,
      ),
    )
    expect(await offline.isPointCanonical()).toBe(true)
    expect(proxy.bodies.length).toBe(before)
  })

  it('requires exactly one matching fork offline', async () => {
    const cacheDir = temporaryFolder()
    await expect(fork({ cacheDir, isOffline: true })).rejects.toThrow(
      saying(
        `Offline, and the cache does not have a fork at block "latest" from ${proxy.url} in ${cacheDir}. ${OFFLINE}`,
      ),
    )
    for (const number of [2, 3]) await (await fork({ cacheDir, block: { number } })).close()
    await expect(fork({ cacheDir, isOffline: true })).rejects.toThrow(
      saying(
        `Offline, and the cache in ${cacheDir} has 2 forks: 3 (${await hashAt(3)}) of chain 33, 2 (${await hashAt(2)}) of chain 33. Name one with --fork-block, or its chain with --fork-chain-id.`,
      ),
    )
    expect((await fork({ cacheDir, isOffline: true, block: { number: 2 } })).point.number).toBe(2)
    await expect(fork({ cacheDir, isOffline: true, chainId: 30 })).rejects.toThrow(
      saying(
        `Offline, and the cache does not have a fork at block "latest" of chain 30 from ${proxy.url} in ${cacheDir}. ${OFFLINE}`,
      ),
    )
  })
})

describe('a URL that is not a node', () => {
  it.each<[string, Fault, RegExp]>([
    [
      'a web page',
      answering('<!doctype html>'),
      /^cannot be used: it is not a JSON-RPC node \(it answers with a web page\) \(attempt \d\)\. Check the URL, or add a second --fork <url>\.$/,
    ],
    [
      'an error',
      changed((reply) =>
        reply.map(({ id }: Message) => ({
          jsonrpc: '2.0',
          id,
          error: { code: -32601, message: 'no such method' },
        })),
      ),
      /^refused eth_chainId: no such method\. Is it a JSON-RPC node\?$/,
    ],
    [
      'other JSON',
      answering({ message: 'hello' }),
      /^cannot be used: its answer is JSON, and not that of a JSON-RPC node \(attempt \d\)\. Check the URL, or add a second --fork <url>\.$/,
    ],
  ])('but %s is refused', async (_, fault, sentence) => {
    proxy.always(fault)
    onTestFinished(() => proxy.always(undefined))
    const start = `The upstream ${proxy.url} `
    const { message } = await fork().then(
      () => new Error('it forked'),
      (error: Error) => error,
    )
    expect(message.slice(0, start.length)).toBe(start)
    expect(message.slice(start.length)).toMatch(sentence)
  })
})
