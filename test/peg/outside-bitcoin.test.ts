/** The peg on the chain of another process's Bitcoin node, over its JSON-RPC: here that of a second Tandem node. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeHeader, hashOfHeader } from '../../src/bitcoin/chain/header.ts'
import { bestBlock } from '../../src/bitcoin/chain/state.ts'
import { displayed } from '../../src/bitcoin/displayed-hash.ts'
import { checkProof } from '../../src/chain/merged-mining/proof.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, createPool, type Node, type NodeOptions, serve } from '../../src/index.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'
const PASSWORD = 'a secret'

const open: { close(): Promise<void> }[] = []
const folders: string[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

/** A Bitcoin node that can be stopped and started again on its port. */
class Outside {
  readonly node: Node
  #server: Awaited<ReturnType<typeof serve>> | undefined
  port = 0

  private constructor(node: Node) {
    this.node = node
  }

  static async start(): Promise<Outside> {
    const outside = new Outside(await createNode({ bitcoin: true, federation: 'off' }))
    await outside.up()
    open.push(outside)
    return outside
  }

  async up(): Promise<void> {
    this.#server = await serve(this.node, {
      port: 0,
      bitcoinRpcPort: this.port,
      bitcoinRpcPassword: PASSWORD,
    })
    this.port = Number(new URL(this.#server.bitcoinRpcUrl ?? '').port)
  }

  async down(): Promise<void> {
    await this.#server?.close()
    this.#server = undefined
  }

  async close(): Promise<void> {
    await this.down()
    await this.node.close()
  }

  get url(): string {
    return `http://tandem:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.port}`
  }

  get best() {
    return bestBlock(this.node.bitcoin?.bitcoin.chain.state as never)
  }
}

describe('the chain of a Bitcoin Core', () => {
  let outside: Outside
  beforeEach(async () => {
    outside = await Outside.start()
  })

  async function started(options: NodeOptions = {}) {
    const node = await createNode({ bitcoin: true, bitcoinRpc: outside.url, ...options })
    open.push(node)
    const { bitcoin: peg } = node
    if (peg === undefined) throw new Error('the node has no Bitcoin chain')
    const call = (method: string, ...params: unknown[]) => node.request({ method, params })
    return { node, peg, call }
  }

  it('takes coins in and out', async () => {
    const { peg, call } = await started()
    expect(await peg.pegIn(RECEIVER, 5_000_000n)).toMatchObject({ status: 'registered' })
    const out = await peg.pegOut(COW, 1_000_000n)
    expect(out.status).toBe('released')
    const { chain } = outside.node.bitcoin?.bitcoin ?? {}
    expect(chain?.state.places.has(out.bitcoinTransaction ?? '')).toBe(true)
    expect(await call('btc_status')).toMatchObject({
      bitcoin: { hash: outside.best.hash, origin: `http://127.0.0.1:${outside.port}` },
      bridge: { hash: outside.best.hash },
      pegIns: [],
      pegOuts: [],
    })
    expect((await peg.status()).locked).toBeLessThan(4_000_001n)
  })

  it('proves the blocks of this chain by its own, and is given some of them', async () => {
    const { node, call } = await started({ bitcoinBlocksPer: 2, federation: 'off' })
    const first = outside.best.height
    const proofs: string[] = []
    for (let i = 1; i <= 4; i++) {
      await call('evm_mine')
      const { header } = node.engine.queries.head().block
      checkProof(header, node.engine.config)
      proofs.push(displayed(hashOfHeader(decodeHeader(header.bitcoinHeader))))
    }
    await node.bitcoin?.settled()
    expect(outside.best).toMatchObject({ height: first + 2, hash: proofs[3], parent: proofs[1] })
  })

  it('is reorganised, here and there, and the Bridge sees it', async () => {
    const { peg, call } = await started()
    await peg.pegIn(RECEIVER, 1_000_000n)
    await outside.node.bitcoin?.reorg(2)
    await call('evm_mine')
    expect((await peg.status()).bridge.hash).toBe(outside.best.hash)
    const hashes = await peg.reorg(3)
    expect(hashes.at(-1)).toBe(outside.best.hash)
    await call('evm_mine')
    expect((await peg.status()).bridge.hash).toBe(outside.best.hash)
    expect((await peg.pegIn(RECEIVER, 1_000_000n)).status).toBe('registered')
  })

  it('is down for a while: blocks are mined without it, calls of it name it, and what was signed is broadcast later', async () => {
    const warnings: string[] = []
    const ignore = () => {}
    const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => warnings.push(text) }
    const { node, peg, call } = await started({ logger })
    await peg.pegIn(RECEIVER, 5_000_000n)
    await peg.pegOut(COW, 1_000_000n, false)
    for (let i = 0; (await peg.status()).pegOuts[0]?.stage !== 'signing' && i < 20; i++)
      await call('evm_mine')
    await outside.down()
    // The signatures of an earlier block complete nothing: they are sent once the node is back.
    for (let i = 0; i < 5; i++) await call('evm_mine')
    checkProof(node.engine.queries.head().block.header, node.engine.config)
    const message = new RegExp(`^The Bitcoin node at http://127.0.0.1:${outside.port} failed: .*ECONNREFUSED`)
    await expect(call('btc_status')).rejects.toThrow(message)
    await expect(call('btc_mine')).rejects.toThrow(message)
    await expect(call('btc_pegIn', RECEIVER, 1_000_000)).rejects.toThrow(message)
    expect(await node.health()).toMatchObject({ bitcoin: { bridge: outside.best.height } })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/blocks are mined without it$/)

    await outside.up()
    for (let i = 0; i < 3; i++) await call('evm_mine')
    await peg.flush()
    expect(await peg.status()).toMatchObject({ pegOuts: [], bitcoin: { mempool: 1 } })
    expect((await peg.pegIn(RECEIVER, 1_000_000n)).status).toBe('registered')
  })

  it('does not go back with a snapshot; the Bridge learns of it again', async () => {
    const { peg, call } = await started()
    const id = await call('evm_snapshot')
    await peg.pegIn(RECEIVER, 5_000_000n)
    const { height } = outside.best
    expect(await call('evm_revert', id)).toBe(true)
    expect(outside.best.height).toBe(height)
    expect((await peg.status()).bridge.height).toBe(0)
    await call('evm_mine')
    await call('evm_mine')
    expect(await peg.status()).toMatchObject({ bridge: { height }, locked: 5_000_000n })

    const before = await call('evm_snapshot')
    await peg.pegOut(COW, 1_000_000n)
    const refusal = /Since then a peg-out was broadcast/
    await expect(call('evm_revert', before)).rejects.toThrow(refusal)
    expect((await peg.pegIn(RECEIVER, 1_000_000n)).status).toBe('registered')
    // A reset begins anew above the best block.
    await call('evm_reset')
    await call('evm_mine')
    await call('evm_mine')
    expect(await peg.status()).toMatchObject({ locked: 0n, pegIns: [] })
    expect((await peg.pegIn(RECEIVER, 2_000_000n)).status).toBe('registered')
    expect((await peg.pegOut(COW, 1_000_000n)).status).toBe('released')
  })

  it('is known to a data directory, which then keeps to it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tandem-outside-'))
    folders.push(dataDir)
    const { node, peg } = await started({ dataDir })
    await peg.pegIn(RECEIVER, 1_000_000n)
    await node.close()
    const later = await started({ dataDir })
    expect((await later.peg.status()).locked).toBe(1_000_000n)
    expect((await later.peg.pegIn(RECEIVER, 1_000_000n)).status).toBe('registered')
    await later.node.close()
    await expect(createNode({ bitcoin: true, dataDir })).rejects.toThrow(
      /belongs to the chain of a Bitcoin node: set "bitcoinRpc"/,
    )
  })

  it('is not mixed up with a simulated one in state files and directories, nor copied', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tandem-outside-'))
    folders.push(dataDir)
    const simulated = await createNode({ bitcoin: true, dataDir })
    const simulatedDump = await simulated.request({ method: 'anvil_dumpState', params: [true] })
    const { node, call } = await started()
    await call('evm_mine')
    await expect(call('anvil_loadState', simulatedDump)).rejects.toThrow(/it is simulated, and this node has/)
    const dump = await call('anvil_dumpState', true)
    await expect(simulated.request({ method: 'anvil_loadState', params: [dump] })).rejects.toThrow(
      /it is that of a Bitcoin node of its own/,
    )
    expect(await call('anvil_loadState', dump)).toBe(true)
    await simulated.close()
    await expect(started({ dataDir })).rejects.toThrow(/holds a simulated Bitcoin chain/)
    await expect(createPool({ base: node })).rejects.toThrow(/would all move the same Bitcoin chain/)
    await expect(serve(node, { port: 0, bitcoinRpcPort: 0 })).rejects.toThrow(/answers its own JSON-RPC/)
  })

  it('is refused at the start where it does not answer, or is on another network; no message has the password', async () => {
    await outside.down()
    const refusal = started().catch((error: Error) => error.message)
    expect(await refusal).toMatch(/^The Bitcoin node at http:\/\/127.0.0.1:\d+ failed: /)
    expect(await refusal).not.toContain('secret')
    await expect(createNode({ bitcoin: true, bitcoinRpc: 'ftp://u:secret@h' })).rejects.toThrow(
      /^Option "bitcoinRpc" expects a URL such as http:\/\/user:password@127.0.0.1:18443\.$/,
    )
    const hash = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'
    const mainnet = createServer((_, response) => response.end(JSON.stringify({ result: hash, error: null })))
    await new Promise<void>((resolve) => mainnet.listen(0, '127.0.0.1', resolve))
    const { port } = mainnet.address() as AddressInfo
    await expect(createNode({ bitcoin: true, bitcoinRpc: `http://u:p@127.0.0.1:${port}` })).rejects.toThrow(
      /it is on another network than regtest/,
    )
    mainnet.close()
  })

  it('whose templates no local chain can use is mined without, and its errors tell no password', async () => {
    const lies: Record<string, unknown>[] = [
      { bits: '00000000' },
      { bits: '1d00ffff' },
      { version: 2 ** 40 },
      { curtime: -1 },
      { height: 2 ** 40 },
      { coinbasevalue: 2 ** 52 },
    ]
    let lie: Record<string, unknown> = {}
    const liar = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const { authorization = '' } = request.headers
      if (JSON.parse(body).method === 'generatetoaddress') {
        const message = `not for ${authorization}, ${PASSWORD}`
        response.end(JSON.stringify({ result: null, error: { code: -1, message } }))
        return
      }
      const url = `http://127.0.0.1:${outside.port}/`
      const answer = await fetch(url, { method: 'POST', headers: { authorization }, body })
      const { result, error } = (await answer.json()) as { result: object; error: object | null }
      const isTemplate = JSON.parse(body).method === 'getblocktemplate'
      response.end(JSON.stringify({ result: isTemplate ? { ...result, ...lie } : result, error }))
    })
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
    const { port } = liar.address() as AddressInfo
    try {
      const bitcoinRpc = `http://tandem:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`
      const { node, call } = await started({ bitcoinRpc, federation: 'off' })
      const proofOf = async () => {
        await call('evm_mine')
        const { bitcoinHeader } = node.engine.queries.head().block.header
        return displayed(decodeHeader(bitcoinHeader).previous)
      }
      expect(await proofOf()).toBe(outside.best.hash)
      for (lie of lies) expect(await proofOf()).not.toBe(outside.best.hash)
      await expect(call('btc_mine')).rejects.toThrow(/failed: not for Basic \*\*\*, \*\*\*$/)
    } finally {
      liar.closeAllConnections()
      liar.close()
    }
  })
})
