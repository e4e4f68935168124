/** A fork of the reference node, by its recorded answers. What the fork has is compared with the node's own raw blocks. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeBlock } from '../../../src/chain/block.ts'
import { CHAINS } from '../../../src/chain/config.ts'
import { headerHash } from '../../../src/chain/header.ts'
import { fromHex, type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import type { RemoteChain } from '../../../src/state/remote/model.ts'
import { openRemoteChain } from '../../../src/state/remote/remote-chain.ts'
import { changed, type FaultProxy, faultProxy, type Message } from '../../support/fault-proxy.ts'
import { type ReferenceUpstream, referenceUpstream } from '../../support/reference-upstream.ts'
import { remoteSettings, testDeps } from '../../support/remote.ts'

const BRIDGE: Hex = '0x0000000000000000000000000000000001000006'
const NOBODY: Hex = '0x00000000000000000000000000000000000dead1'
/** A contract of the recorded chain with values in slots 0 and 1, which the recordings have by name of the block. */
const STORE: Hex = '0x03f23ae1917722d5a27a2ea0bcc98725a2a2a49a'
const COW: Hex = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

/** The blocks under the recordings as the reference node wrote them, main chain only. */
function rawBlocks(head: Hex) {
  const text = gunzipSync(readFileSync('fixtures/reference-node/blocks/rpc-chain.ndjson.gz')).toString()
  const { blocks } = JSON.parse(text.split('\n')[0] ?? '') as { blocks: [raw: Hex, imported: string][] }
  const byHash = new Map(
    blocks.map(([raw]) => {
      const block = decodeBlock(fromHex(raw), CHAINS.regtest)
      return [headerHash(block.header, CHAINS.regtest), block]
    }),
  )
  const canonical = []
  for (let block = byHash.get(head); block !== undefined; block = byHash.get(block.header.parentHash)) {
    canonical.push(block)
  }
  return canonical.reverse()
}

describe.each([{ old: false }, { old: true }])('a fork of the reference node, $old', ({ old }) => {
  let upstream: ReferenceUpstream
  let proxy: FaultProxy
  let chain: RemoteChain

  beforeAll(async () => {
    upstream = await referenceUpstream({ old })
    proxy = await faultProxy(upstream.answer)
    chain = await openRemoteChain(remoteSettings([proxy.url]), testDeps())
  })
  afterAll(async () => {
    await chain.close()
    await proxy.close()
    await upstream.node.close()
  })

  it('starts at its head', () => {
    expect(chain.point.number).toBe(18)
    expect(chain.upstream).toMatchObject({ isSameFamily: true, client: expect.stringMatching(/^RskJ\/9/) })
    expect(chain.config).toBe(CHAINS.regtest)
  })

  it('has its blocks, uncles and receipts', async () => {
    const expected = rawBlocks(chain.point.hash)
    expect(expected).toHaveLength(18)
    for (const block of expected) {
      const found = await chain.blockByNumber(block.header.number)
      expect(found?.block).toEqual(block)
      // `blockByNumber` checks the receipts against the root in the header, which is the reference node's.
      expect(found?.receipts).toHaveLength(block.transactions.length)
    }
    expect(expected.some(({ uncles }) => uncles.length > 0)).toBe(true)
    expect(upstream.recorded()).toBeGreaterThan(10)
  })

  it('is read by hash, and its code by a block object with a check of the height', async () => {
    const before = proxy.bodies.length
    const state = chain.stateAt(chain.point)
    await state.fetch([
      { kind: 'account', address: COW },
      { kind: 'account', address: NOBODY },
      { kind: 'account', address: BRIDGE },
      { kind: 'cell', address: STORE, slot: 1n },
      { kind: 'cell', address: STORE, slot: 77n },
    ])
    expect(proxy.bodies.length - before).toBe(1)
    const calls = proxy.bodies.at(-1)
    expect(calls).toHaveLength(12)
    for (const { method, params } of calls.slice(0, -1)) {
      const { hash } = chain.point
      expect(params.at(-1)).toEqual(method === 'eth_getCode' ? { blockHash: hash } : hash)
    }
    expect(calls.at(-1)).toMatchObject({ method: 'eth_getBlockByNumber', params: ['0x12', false] })
    // As recorded for `latest`, which is this block.
    expect(state.account(COW)?.account).toMatchObject({ balance: 0xc9f2c9cd038943736987f41b9n, nonce: 0x13n })
    expect(state.account(NOBODY)).toMatchObject({ account: undefined })
    expect(state.account(BRIDGE)?.account).toMatchObject({
      balance: 0x115eec47f6cf7e35000000n,
      isContract: true,
    })
    expect(state.cell(STORE, 1n)).toBe(0xabcdefn)
    expect(state.cell(STORE, 77n)).toBe(0n)
  })

  it('refuses code after its chain was reorganised', async () => {
    const state = chain.stateAt(chain.point)
    proxy.push(
      changed((reply) =>
        reply.map((one: Message) =>
          one.result?.parentHash === undefined
            ? one
            : { ...one, result: { ...one.result, hash: toFixedHex(1n, 32) } },
        ),
      ),
    )
    await expect(state.fetch([{ kind: 'account', address: STORE }])).rejects.toThrow(
      /was reorganised: block 18 is 0x0+1, and the fork stands on 0x835f1e2f\w+\. Fork again/,
    )
    expect(state.account(STORE)).toBeUndefined()
    await state.fetch([{ kind: 'account', address: STORE }])
    expect(state.account(STORE)?.account?.isContract).toBe(true)
  })

  it('runs calls', async () => {
    const state = chain.stateAt(chain.point)
    // getFederationSize() of the Bridge; the local network has three federators.
    const data = Buffer.from('802ad4b6', 'hex')
    expect(await state.call({ to: BRIDGE, data })).toEqual(fromHex(toFixedHex(3n, 32)))
    const before = proxy.bodies.length
    await state.call({ to: BRIDGE, data })
    expect(proxy.bodies.length).toBe(before)
  })

  it('has no hints, and is asked for them once only', async () => {
    const state = chain.stateAt(chain.point)
    expect(await state.hint({ to: STORE })).toEqual([])
    const before = proxy.bodies.length
    expect(await state.hint({ to: COW })).toEqual([])
    expect(proxy.bodies.length).toBe(before)
  })

  it('has the logs of a range, as recorded', async () => {
    const logs = await chain.logs({ range: { from: 1, to: 6 }, addresses: [], topics: [] })
    const own = await chain.logs({
      range: { blockHash: (await chain.headerByNumber(5))?.hash as Hex },
      addresses: [],
      topics: [],
    })
    expect(own).toMatchObject(
      logs.filter(({ block }) => block.number === 5).map(({ timestamp: _, ...log }) => log),
    )
    expect(own.length).toBeGreaterThan(0)
  })
})
