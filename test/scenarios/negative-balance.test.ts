/** Balances below zero, which the Bridge's account can have: `0x-5` as the reference node writes it, wherever it goes. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions, serve } from '../../src/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const DEBTOR: Hex = '0x00000000000000000000000000000000000deb70'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function started(options: NodeOptions = {}): Promise<Node> {
  const node = await createNode(options)
  open.push(node)
  return node
}

async function indebted(): Promise<Node> {
  const node = await started()
  await node.engine.dev.editState([{ address: DEBTOR, balance: -5n }])
  await node.request({ method: 'evm_mine' })
  return node
}

const balanceIn = (node: Node) => node.request({ method: 'eth_getBalance', params: [DEBTOR, 'latest'] })

describe('a balance below zero', () => {
  it('is in answers and proofs', async () => {
    const node = await indebted()
    expect(await balanceIn(node)).toBe('0x-5')
    const proof = await node.request({ method: 'eth_getProof', params: [DEBTOR, [], 'latest'] })
    expect(proof).toMatchObject({ balance: '0x-5' })
  })

  it('is in state files with and without history', async () => {
    const node = await indebted()
    for (const history of [true, false]) {
      const dump = await node.request({ method: 'anvil_dumpState', params: [history] })
      const other = await started()
      expect(await other.request({ method: 'anvil_loadState', params: [dump] })).toBe(true)
      expect(await balanceIn(other)).toBe('0x-5')
    }
  })

  it('is read from an upstream, and from the cache of its answers', async () => {
    const server = await serve(await indebted(), { port: 0 })
    const options = { fork: `${server.url}@1`, forkCacheDir: temporaryFolder() }
    const first = await createNode(options)
    expect(await balanceIn(first)).toBe('0x-5')
    await first.close()
    await server.close()
    expect(await balanceIn(await started({ ...options, forkOffline: true }))).toBe('0x-5')
  })
})
