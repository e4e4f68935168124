/** --fork-verify: each lie of an upstream about state that its header's root can disprove is found, and nothing of it kept. */
import { createMerkleProof, createMPT } from '@ethereumjs/trie'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EMPTY_CODE_HASH } from '../../../src/chain/account.ts'
import { fromBigInt, fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { encodeRlp } from '../../../src/encoding/rlp.ts'
import type { RemoteState, StateItem } from '../../../src/state/remote/model.ts'
import { contradiction, readEthereumProof } from '../../../src/state/remote/state-proofs.ts'
import { changed, type Fault, type Message } from '../../support/fault-proxy.ts'
import { forkedNode, NOBODY } from '../../support/forked-node.ts'
import { testClock, testDeps } from '../../support/remote.ts'

const nodeOf = forkedNode()
const ABSENT: Hex = `0x${'7'.repeat(40)}`

/** The node's answers, those of some methods changed. */
function lying(about: Readonly<Record<string, (result: Message, params: Message) => Message>>): Fault {
  const lie = ({ method, params }: Message, reply: Message): Message => {
    const change = about[method]
    return change === undefined || reply.error ? reply : { ...reply, result: change(reply.result, params) }
  }
  return changed((reply, request) =>
    Array.isArray(request)
      ? reply.map((one: Message, i: number) => lie(request[i], one))
      : lie(request, reply),
  )
}

async function verified() {
  const deps = testDeps({ clock: testClock() })
  const chain = await nodeOf().fork({ isVerified: true }, deps)
  return { chain, state: chain.stateAt(chain.point), deps }
}

async function lieAbout(item: StateItem, about: Parameters<typeof lying>[0]): Promise<[RemoteState, Error]> {
  const { state } = await verified()
  nodeOf().proxy.always(lying(about))
  onTestFinished(() => nodeOf().proxy.always(undefined))
  return [
    state,
    await state.fetch([item]).then(
      () => new Error('was believed'),
      (error) => error,
    ),
  ]
}

const ofNobody = (address: Hex = NOBODY): StateItem => ({ kind: 'account', address })
const info = (change: object) => (result: Message) => ({ ...result, ...change })
const wrong = (what: string) =>
  `The upstream ${nodeOf().proxy.url} gave a wrong answer: at block 3 ${what}. Nothing of it was taken over; try again, or fork from another URL.`

describe('what an upstream answers under --fork-verify', () => {
  it('is taken over where its proofs show the same', async () => {
    const { state, deps } = await verified()
    const { contract, slots, node } = nodeOf()
    await state.fetch([ofNobody(), ofNobody(ABSENT), ofNobody(contract), ...slots(5)])
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
    expect(state.account(ABSENT)).toEqual({ account: undefined })
    expect(state.cell(contract, 3n)).toBe(
      BigInt(await node.call('eth_getStorageAt', contract, '0x3', 'latest')),
    )
    expect(deps.notices).toEqual([])
  })

  it.each<[string, StateItem, Parameters<typeof lying>[0], string]>([
    [
      'a balance',
      ofNobody(),
      { eth_getAccountInfo: info({ balance: '0x7' }), eth_getBalance: () => '0x7' },
      `the balance of ${NOBODY} is 7, and its proof shows 5`,
    ],
    [
      'a nonce',
      ofNobody(),
      { eth_getAccountInfo: info({ nonce: '0x1' }), eth_getTransactionCount: () => '0x1' },
      `the nonce of ${NOBODY} is 1, and its proof shows 0`,
    ],
    [
      'the code of an account without one',
      ofNobody(),
      { eth_getAccountInfo: info({ code: '0x00' }), eth_getCode: () => '0x00' },
      `the code hash of ${NOBODY} is ${keccakHex(Uint8Array.of(0))}, and its proof shows ${EMPTY_CODE_HASH}`,
    ],
    [
      'an account that does not exist',
      ofNobody(ABSENT),
      { eth_getAccountInfo: info({ balance: '0x1' }), eth_getBalance: () => '0x1' },
      `the balance of ${ABSENT} is 1, and its proof shows 0`,
    ],
  ])('is refused where it lies about %s', async (_, item, about, what) => {
    const [state, error] = await lieAbout(item, about)
    expect(error.message).toBe(wrong(what))
    expect(state.account(item.address)).toBeUndefined()
  })

  it('is refused where it lies about a slot, and where it forges the proof as well', async () => {
    const { contract } = nodeOf()
    const item: StateItem = { kind: 'cell', address: contract, slot: 3n }
    const seven = `0x${'7'.padStart(64, '0')}`
    const [state, error] = await lieAbout(item, { eth_getStorageAt: () => seven })
    expect(error.message).toBe(
      wrong(`slot 0x${'3'.padStart(64, '0')} of ${contract} is 7, and its proof shows 4`),
    )
    expect(state.cell(contract, 3n)).toBeUndefined()
    const forge = (node: string) => `${node.slice(0, -2)}07`
    const [, forged] = await lieAbout(item, {
      eth_getStorageAt: () => seven,
      eth_getProof: ({ accountProof, storageProof, ...rest }) => ({
        ...rest,
        accountProof: accountProof.map(forge),
        storageProof: storageProof.map(({ proof, ...one }: Message) => ({ ...one, proof: proof.map(forge) })),
      }),
    })
    expect(forged.message).toMatch(
      /at block 3 the proof of 0x[0-9a-f]{40} does not lead to the state root 0x/,
    )
  })

  it('is taken as it is where no proofs are served, which a notice states once', async () => {
    const { state, deps } = await verified()
    const error = { code: -32601, message: 'method not found' }
    const unserved = ({ method }: Message, reply: Message) =>
      method === 'eth_getProof' ? { jsonrpc: '2.0', id: reply.id, error } : reply
    nodeOf().proxy.always(
      changed((reply, request) =>
        Array.isArray(request)
          ? reply.map((one: Message, i: number) => unserved(request[i], one))
          : unserved(request, reply),
      ),
    )
    onTestFinished(() => nodeOf().proxy.always(undefined))
    await state.fetch([ofNobody()])
    await state.fetch([ofNobody(ABSENT)])
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
    expect(deps.notices).toEqual([
      `The state of the fork is not proven by the upstream ${nodeOf().proxy.url}: it serves no eth_getProof.`,
    ])
  })
})

describe("a proof of Ethereum's trie", () => {
  it('shows nonce, balance, code hash and slots, and what is not there', async () => {
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
    expect(proven).toEqual({
      account: { nonce: 5n, balance: 500n },
      codeHash,
      cells: new Map([
        [1n, 7n],
        [300n, 2100n],
        [4n, 0n],
      ]),
    })
    const account = { nonce: 5n, balance: 500n, codeHash: EMPTY_CODE_HASH, isContract: false }
    expect(contradiction({ kind: 'account', address: toHex(address), account }, proven)).toBe(
      `the code hash of ${toHex(address)} is ${EMPTY_CODE_HASH}, and its proof shows ${codeHash}`,
    )
    const absent = fromBigIntFixed(99n, 20)
    const missing = { accountProof: await createMerkleProof(trie, absent), storageProof: [] }
    expect((await readEthereumProof(root, toHex(absent), [], missing)).account).toBeUndefined()
    await expect(
      readEthereumProof(keccakHex(Uint8Array.of(9)), toHex(address), [], { accountProof, storageProof: [] }),
    ).rejects.toThrow()
  })
})
