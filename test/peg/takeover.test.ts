/** Forks of a node with a Bridge in use, whose federation is replaced: by JSON-RPC over a socket, as of any upstream. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { scriptOfAddress } from '../../src/bitcoin/regtest-address.ts'
import { bannerLines } from '../../src/cli/banner.ts'
import { equal } from '../../src/encoding/bytes.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions, serve } from '../../src/index.ts'
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
