/** State out of proofs: a lie of an upstream that its header's root can disprove is found, and nothing of it kept. */
import { createMerkleProof, createMPT } from '@ethereumjs/trie'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromBigInt, fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { encodeRlp } from '../../../src/encoding/rlp.ts'
import type { StateItem } from '../../../src/state/remote/model.ts'
import { readEthereumProof } from '../../../src/state/remote/state-proofs.ts'
import type { RemoteSettings } from '../../../src/upstream/settings.ts'
import { changed, type Fault, type Message } from '../../support/fault-proxy.ts'
import { CODE, forkedNode, NOBODY } from '../../support/forked-node.ts'
import { testClock, testDeps } from '../../support/remote.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const nodeOf = forkedNode()
const ABSENT: Hex = `0x${'7'.repeat(40)}`

/** The node's replies to some methods, changed. */
function replying(about: Readonly<Record<string, (reply: Message) => Message>>): Fault {
  const lie = ({ method }: Message, reply: Message): Message => about[method]?.(reply) ?? reply
  return changed((reply, request) =>
    Array.isArray(request)
      ? reply.map((one: Message, i: number) => lie(request[i], one))
      : lie(request, reply),
  )
}

/** The node's results of some methods, changed. */
function lying(about: Readonly<Record<string, (result: Message) => Message>>): Fault {
  const changes = Object.entries(about).map(([method, change]) => [
    method,
    (reply: Message) => (reply.error ? reply : { ...reply, result: change(reply.result) }),
  ])
  return replying(Object.fromEntries(changes))
}

/** Answers `eth_getProof` as nodes that do not serve it. */
const unserved = {
  eth_getProof: ({ id }: Message) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32601, message: 'method not found' },
  }),
}

/** A fault of the node's proxy from now on, to the end of the test at most. */
function always(fault: Fault | undefined): void {
  nodeOf().proxy.always(fault)
  onTestFinished(() => nodeOf().proxy.always(undefined))
}

async function verified(settings: Partial<RemoteSettings> = {}) {
  const deps = testDeps({ clock: testClock() })
  const chain = await nodeOf().fork({ isVerified: true, ...settings }, deps)
  return { chain, state: chain.stateAt(chain.point), deps }
}

const ofNobody = (address: Hex = NOBODY): StateItem => ({ kind: 'account', address })
const wrong = (what: string) =>
  `The upstream ${nodeOf().proxy.url} gave a wrong answer: at block 3 ${what}. Nothing of it was used; try again, or fork from another URL.`
const unprovenNotice = (why: string) =>
  `The state of the fork is not proven by the upstream ${nodeOf().proxy.url}: ${why}.`

describe('the state of an upstream that serves proofs', () => {
  it('is read from the proofs, in one request and without fetching it again', async () => {
    const { state, deps, chain } = await verified()
    const { contract, slots, node, proxy } = nodeOf()
    const before = proxy.bodies.length
    const requests = chain.usage().requests
    await state.fetch([ofNobody(), ofNobody(ABSENT), ofNobody(contract), ...slots(5)])
    expect(chain.usage().requests - requests).toBe(1)
    const [batch] = proxy.bodies.slice(before)
    expect(batch.map(({ method }: Message) => method)).toEqual([
      ...['eth_getProof', 'eth_getCode'],
      ...['eth_getProof', 'eth_getCode'],
      ...['eth_getProof', 'eth_getCode'],
    ])
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
    expect(state.account(ABSENT)).toMatchObject({ account: undefined })
    const { codeHash, nonce } = state.account(contract)?.account ?? {}
    expect(codeHash).toBe(keccakHex(fromHex(CODE)))
    expect(nonce).toBe(BigInt(await node.call('eth_getTransactionCount', contract, 'latest')))
    for (const slot of [0n, 1n, 2n, 3n, 4n]) {
      const word = await node.call('eth_getStorageAt', contract, `0x${slot}`, 'latest')
      expect(state.cell(contract, slot)).toBe(BigInt(word))
    }
    expect(deps.notices).toEqual([])
  })

  it('takes no more requests than without proofs', async () => {
    const requestsOf = async (isVerified: boolean) => {
      const { state, chain } = await verified({ isVerified })
      await state.fetch([ofNobody(), ...nodeOf().slots(3)])
      return chain.usage().requests
    }
    expect(await requestsOf(true)).toBe(await requestsOf(false))
  })

  it('is not read from other methods, whose forged answers have no effect', async () => {
    const { state } = await verified()
    const { contract } = nodeOf()
    const info = (result: Message) => ({ ...result, balance: '0x7', nonce: '0x7' })
    always(
      lying({
        eth_getBalance: () => '0x7',
        eth_getTransactionCount: () => '0x7',
        eth_getStorageAt: () => `0x${'7'.padStart(64, '0')}`,
        eth_getAccountInfo: info,
        eth_getProof: (result) => ({
          ...info(result),
          storageProof: result.storageProof.map((one: Message) => ({ ...one, value: '0x7' })),
        }),
      }),
    )
    await state.fetch([ofNobody(), { kind: 'cell', address: contract, slot: 3n }])
    expect(state.account(NOBODY)?.account).toMatchObject({ balance: 5n, nonce: 0n })
    expect(state.cell(contract, 3n)).toBe(4n)
  })

  it.each<[string, () => Hex, Hex]>([
    ['an account without any', () => NOBODY, '0x00'],
    ['an account that does not exist', () => ABSENT, '0x00'],
    ['a contract, other code', () => nodeOf().contract, '0x600055'],
    ['a contract, none', () => nodeOf().contract, '0x'],
    ['a contract, long code', () => nodeOf().contract, `0x${'00'.repeat(100)}`],
  ])('is refused when the code of %s is forged', async (_, addressOf, code) => {
    const { state } = await verified()
    const address = addressOf()
    always(lying({ eth_getCode: () => code }))
    await expect(state.fetch([ofNobody(address)])).rejects.toThrow(
      wrong(`the code of ${address} is not the one that its proof shows`),
    )
    expect(state.account(address)).toBeUndefined()
  })

  it('is refused when the proof is forged', async () => {
    const { state, chain } = await verified()
    const { contract } = nodeOf()
    const forge = (node: string) => `${node.slice(0, -2)}07`
    always(
      lying({
        eth_getProof: ({ accountProof, storageProof, ...rest }) => ({
          ...rest,
          accountProof: accountProof.map(forge),
          storageProof: storageProof.map(({ proof, ...one }: Message) => ({
            ...one,
            proof: proof.map(forge),
          })),
        }),
      }),
    )
    const root = (await chain.headerByHash(chain.point.hash))?.header.stateRoot
    await expect(state.fetch([{ kind: 'cell', address: contract, slot: 3n }])).rejects.toThrow(
      wrong(
        `the proof of ${contract} does not lead to the state root ${root} (the node of the state root ${root} is missing)`,
      ),
    )
    expect(state.cell(contract, 3n)).toBeUndefined()
  })
})

describe('the state of an upstream without proofs', () => {
  it.each<[string, Fault, string]>([
    ['serves none', replying(unserved), 'it serves no eth_getProof'],
    [
      'proves another state',
      lying({ eth_getProof: (result) => ({ ...result, accountProof: [] }) }),
      'its proofs do not lead to the state root of block 3 (the node of the state root ROOT is missing)',
    ],
  ])('is accepted without proofs when it %s, which one notice states', async (_, fault, why) => {
    always(fault)
    const { state, deps, chain } = await verified()
    const root = (await chain.headerByHash(chain.point.hash))?.header.stateRoot ?? ''
    await state.fetch([ofNobody()])
    await state.fetch([ofNobody(ABSENT)])
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
    expect(deps.notices).toEqual([unprovenNotice(why.replace('ROOT', root))])
  })

  it('is accepted without proofs when the upstream stops serving them, after one request for them', async () => {
    const { state, deps, chain } = await verified()
    always(replying(unserved))
    const requests = chain.usage().requests
    await state.fetch([ofNobody()])
    await state.fetch([ofNobody(ABSENT)])
    expect(chain.usage().requests - requests).toBe(3)
    await state.fetch([ofNobody(), ofNobody(ABSENT)])
    expect(chain.usage().requests - requests).toBe(3)
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
    expect(deps.notices).toEqual([unprovenNotice('it serves no eth_getProof')])
  })

  it('is accepted without a proof at a block that the upstream does not prove, even if it proves others', async () => {
    const { chain, state, deps } = await verified()
    const hash = await nodeOf().hashAt(2)
    always(lying({ eth_getProof: (result) => ({ ...result, accountProof: [] }) }))
    const before = chain.stateAt({ number: 2, hash })
    await before.fetch([ofNobody()])
    expect(before.account(NOBODY)?.account?.balance).toBe(5n)
    const root = (await chain.headerByHash(hash))?.header.stateRoot
    const why = `its proofs do not lead to the state root of block 2 (the node of the state root ${root} is missing)`
    expect(deps.notices).toEqual([unprovenNotice(why)])
    nodeOf().proxy.always(undefined)
    await state.fetch([ofNobody()])
    expect(state.account(NOBODY)).toMatchObject({ isProven: true })
  })

  it('is fetched again when the upstream serves proofs, unless it is proven', async () => {
    const cacheDir = temporaryFolder()
    const run = async (settings: Partial<RemoteSettings> = {}) => {
      const { state, chain, deps } = await verified({ cacheDir, ...settings })
      const { requests } = chain.usage()
      await state.fetch([ofNobody(), { kind: 'cell', address: nodeOf().contract, slot: 3n }])
      await chain.close()
      return {
        asked: chain.usage().requests - requests,
        balance: state.account(NOBODY)?.account?.balance,
        cell: state.cell(nodeOf().contract, 3n),
        notices: deps.notices,
      }
    }
    const seven = (reply: Message) => ({ ...reply, result: `0x${'7'.padStart(64, '0')}` })
    always(
      replying({
        ...unserved,
        eth_getBalance: (reply) => ({ ...reply, result: '0x7' }),
        eth_getAccountInfo: (reply) =>
          reply.error ? reply : { ...reply, result: { ...reply.result, balance: '0x7' } },
        eth_getStorageAt: seven,
      }),
    )
    const notices = [unprovenNotice('it serves no eth_getProof')]
    expect(await run()).toEqual({ asked: 1, balance: 7n, cell: 7n, notices })
    expect(await run()).toEqual({ asked: 0, balance: 7n, cell: 7n, notices })
    nodeOf().proxy.always(undefined)
    expect(await run({ isVerified: false })).toEqual({ asked: 0, balance: 7n, cell: 7n, notices: [] })
    expect(await run()).toEqual({ asked: 1, balance: 5n, cell: 4n, notices: [] })
    expect(await run()).toEqual({ asked: 0, balance: 5n, cell: 4n, notices: [] })
    expect(await run({ isOffline: true })).toEqual({ asked: 0, balance: 5n, cell: 4n, notices: [] })
  })
})

describe("a proof of Ethereum's trie", () => {
  it('proves nonce, balance, code hash and slots, and their absence', async () => {
    const codeHash = keccakHex(Uint8Array.of(1, 2, 3))
    const storage = await createMPT({ useKeyHashing: true })
    for (const slot of [1n, 2n, 300n]) {
      await storage.put(fromBigIntFixed(slot, 32), encodeRlp(fromBigInt(slot * 7n)))
    }
    const trie = await createMPT({ useKeyHashing: true })
    for (let i = 1n; i < 20n; i++) {
      const leaf = encodeRlp([fromBigInt(i), fromBigInt(i * 100n), storage.root(), fromHex(codeHash)])
      await trie.put(fromBigIntFixed(i, 20), leaf)
    }
    const root = toHex(trie.root())
    const address = fromBigIntFixed(5n, 20)
    const slots = [1n, 300n, 4n]
    const accountProof = await createMerkleProof(trie, address)
    const storageProof = await Promise.all(
      slots.map(async (slot) => ({ proof: await createMerkleProof(storage, fromBigIntFixed(slot, 32)) })),
    )
    const proven = await readEthereumProof(root, toHex(address), slots, { accountProof, storageProof })
    expect(proven.account).toEqual({ nonce: 5n, balance: 500n })
    expect(proven.cells).toEqual(
      new Map([
        [1n, 7n],
        [300n, 2100n],
        [4n, 0n],
      ]),
    )
    expect(proven.isCode(Uint8Array.of(1, 2, 3))).toBe(true)
    expect(proven.isCode(Uint8Array.of(1, 2))).toBe(false)
    expect(proven.isCode(Uint8Array.of())).toBe(false)
    const absent = fromBigIntFixed(99n, 20)
    const missing = { accountProof: await createMerkleProof(trie, absent), storageProof: [] }
    expect((await readEthereumProof(root, toHex(absent), [], missing)).account).toBeUndefined()
    await expect(
      readEthereumProof(keccakHex(Uint8Array.of(9)), toHex(address), [], { accountProof, storageProof: [] }),
    ).rejects.toThrow(/^Invalid proof provided$/)
  })
})
