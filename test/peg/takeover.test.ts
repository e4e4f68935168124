/** Forks of a node with a Bridge in use, whose federation is replaced: by JSON-RPC over a socket, as of any upstream. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { scriptOfAddress } from '../../src/bitcoin/regtest-address.ts'
import { bannerLines } from '../../src/cli/banner.ts'
import { EMPTY, equal } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { frameStrings } from '../../src/encoding/rlp-frame.ts'
import { createNode, type Node, type NodeOptions, serve } from '../../src/index.ts'
import { changed, faultProxy, type Message } from '../support/fault-proxy.ts'
import { BOB, COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'

describe('a fork that takes the federation over', () => {
  let upstream: Node
  let url: string
  let closeServer: () => Promise<void>
  const open: { close(): Promise<void> }[] = []
  const folders: string[] = []

  beforeAll(async () => {
    // The first federation of this release has another script and address.
    upstream = await createNode({ bitcoin: true, bridgeRelease: '9.0', frozenClock: true })
    const { bitcoin: peg } = upstream
    await peg?.pegIn(RECEIVER, 30_000_000n)
    await peg?.pegIn(RECEIVER, 20_000_000n)
    // One peg-out on its way to signatures, one in the queue.
    await peg?.pegOut(COW, 1_000_000n, false)
    while ((await peg?.status())?.pegOuts[0]?.stage !== 'confirming') {
      await upstream.request({ method: 'evm_mine' })
    }
    await peg?.pegOut(COW, 2_000_000n, false)
    const server = await serve(upstream, { port: 0 })
    url = server.url
    closeServer = () => server.close()
  })
  afterAll(async () => {
    await closeServer()
    await upstream.close()
  })
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
  })

  async function forked(options: NodeOptions = {}) {
    const node = await createNode({
      fork: url,
      forkCache: false,
      bitcoin: true,
      federationTakeover: true,
      ...options,
    })
    open.push(node)
    const { bitcoin: peg } = node
    if (peg === undefined) throw new Error('the node has no Bitcoin chain')
    const call = (method: string, ...params: unknown[]) => node.request({ method, params })
    return { node, peg, call }
  }

  it('carries the coins and the peg-outs of the Bridge, and pays them by its own members', async () => {
    const { node, peg, call } = await forked()
    const before = await upstream.bitcoin?.status()
    const status = await peg.status()
    expect(status.takesOver).toBe(true)
    expect(before?.takesOver).toBe(false)
    expect(status.active.address).not.toBe(before?.active.address)
    expect(status.active.members.every(({ hasKey }) => hasKey)).toBe(true)
    expect(status.lockingCap).toBe(before?.lockingCap)
    // What was paid by the upstream's transaction is asked for again, less its fee.
    expect(status.pegOuts.map(({ stage }) => stage)).toEqual(['requested', 'requested'])
    expect(status.locked).toBeGreaterThanOrEqual(49_000_000n)
    // Each coin that the Bridge knows is one of the simulated chain.
    const script = scriptOfAddress(status.active.address)
    const owned = [...peg.bitcoin.chain.state.coins.entries('')].filter(
      ([, coin]) => script !== undefined && equal(coin.script, script),
    )
    expect(owned.reduce((sum, [, { value }]) => sum + value, 0n)).toBe(status.locked)
    expect(await call('eth_getBalance', RECEIVER)).toBe(
      await upstream.request({ method: 'eth_getBalance', params: [RECEIVER] }),
    )

    expect((await peg.pegIn(BOB, 5_000_000n)).status).toBe('registered')
    expect((await peg.pegOut(COW, 1_000_000n)).status).toBe('released')
    expect((await peg.status()).pegOuts).toEqual([])
    expect(bannerLines({ ...BANNER, engine: node.engine }).join('\n')).toMatch(
      /federation auto in place of the upstream's, whose coins are simulated/,
    )
    // The upstream has nothing of it.
    expect((await upstream.bitcoin?.status())?.pegOuts).toHaveLength(2)
  })

  it('goes back to where it began with a reset, and with a snapshot', async () => {
    const { peg, call } = await forked()
    const first = await peg.status()
    await peg.pegIn(BOB, 5_000_000n)
    const id = await call('evm_snapshot')
    const then = await peg.status()
    await peg.pegIn(BOB, 6_000_000n)
    expect(await call('evm_revert', id)).toBe(true)
    expect(await peg.status()).toEqual(then)
    await call('evm_reset')
    expect({ ...(await peg.status()), bitcoin: undefined }).toEqual({ ...first, bitcoin: undefined })
    expect((await peg.pegIn(BOB, 5_000_000n)).status).toBe('registered')
  })

  it('is kept by a data directory, which no other fork takes', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tandem-takeover-'))
    folders.push(dataDir)
    const one = await forked({ dataDir })
    await one.peg.pegIn(BOB, 5_000_000n)
    const status = await one.peg.status()
    await one.node.close()
    const two = await forked({ dataDir })
    expect(await two.peg.status()).toEqual(status)
    expect((await two.peg.pegOut(COW, 1_000_000n)).status).toBe('released')
    await two.node.close()
    await expect(createNode({ fork: url, forkCache: false, dataDir })).rejects.toThrow(
      /replaced the federation of its upstream/,
    )
    const plain = await mkdtemp(join(tmpdir(), 'tandem-takeover-'))
    folders.push(plain)
    const fork = await createNode({ fork: url, forkCache: false, dataDir: plain })
    await fork.request({ method: 'evm_mine' })
    await fork.close()
    await expect(forked({ dataDir: plain })).rejects.toThrow(
      /holds a fork with the federation of its upstream/,
    )
  })

  describe('of an upstream that tells what cannot be', () => {
    const STATE = '0x0d0cee93'
    const CAP = '0x3f9db977'
    const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
    const result = (bytes: Uint8Array) =>
      `0x${word(32)}${word(bytes.length)}${Buffer.from(bytes).toString('hex')}${'00'.repeat(-bytes.length & 31)}`
    /** An output of the federation: 8 bytes of value, no script. */
    const coin = (value: string) => fromHex(`0x${value}00000000${'11'.repeat(32)}${'00'.repeat(9)}`)
    const state = (outputs: readonly Uint8Array[], requests: readonly Uint8Array[] = []) =>
      result(
        frameStrings([
          EMPTY,
          frameStrings(outputs),
          frameStrings([]),
          frameStrings(requests),
          frameStrings([]),
          Uint8Array.of(0x80),
        ]),
      )
    const HASH = new Uint8Array(32)

    it.each([
      ['no bytes', STATE, `0x${word(32)}`, /cannot be read/],
      ['no RLP', STATE, result(Uint8Array.of(0xf8)), /cannot be read/],
      [
        'one string',
        STATE,
        result(Uint8Array.of(0x01)),
        /cannot be read: state of the Bridge must be an RLP list/,
      ],
      ['an output that is cut off', STATE, state([Uint8Array.of(1, 2)]), /cannot be read/],
      ['a coin below nothing', STATE, state([coin('ffffffffffffffff')]), /amounts that there are not/],
      ['more coins than there are', STATE, state([coin('00ffffffffffff7f')]), /amounts that there are not/],
      [
        'more coins than the simulated chain has',
        STATE,
        state([coin('00204aa9d1010000')]),
        /has fewer coins/,
      ],
      [
        'a peg-out to no key',
        STATE,
        state([], [EMPTY, Uint8Array.of(1), HASH]),
        /a peg-out without a receiver/,
      ],
      ['a cap of all words', CAP, `0x${'ff'.repeat(32)}`, /answers getLockingCap\(\) with \d+ satoshi/],
    ])('is refused in a sentence: %s', async (_, selector, answer, message) => {
      const proxy = await faultProxy(url)
      open.push(proxy)
      proxy.always(
        changed((reply, request) => {
          const change = (one: Message, asked: Message) =>
            asked.method === 'eth_call' && (asked.params[0].data ?? asked.params[0].input) === selector
              ? { jsonrpc: '2.0', id: one.id, result: answer }
              : one
          return Array.isArray(reply)
            ? reply.map((one: Message) =>
                change(
                  one,
                  request.find(({ id }: Message) => id === one.id),
                ),
              )
            : change(reply, request)
        }),
      )
      await expect(
        createNode({ fork: proxy.url, forkCache: false, bitcoin: true, federationTakeover: true }),
      ).rejects.toThrow(message)
    })
  })

  it.each([
    [
      { bitcoin: true, fork: 'http://127.0.0.1:1' },
      /has not the keys of the upstream's federation: set "fede/,
    ],
    [{ bitcoin: true, federationTakeover: true }, /has no effect without the option "fork"/],
    [{ fork: 'http://127.0.0.1:1', federationTakeover: true }, /no effect without the option "bitcoin"/],
    [
      {
        bitcoin: true,
        fork: 'http://127.0.0.1:1',
        federationTakeover: true,
        bitcoinRpc: 'http://u:p@127.0.0.1:1',
      },
      /"federationTakeover" and "bitcoinRpc" contradict/,
    ],
  ] satisfies [NodeOptions, RegExp][])('is refused in a sentence: %o', async (options, message) => {
    await expect(createNode(options)).rejects.toThrow(message)
  })
})

const BANNER = {
  dataDir: undefined,
  mining: 'auto',
  federation: 'auto',
  takesOver: true,
} as const
