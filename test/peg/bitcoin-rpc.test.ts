import { afterEach, describe, expect, it } from 'vitest'
import { createNode, serve } from '../../src/index.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

describe("Bitcoin Core's JSON-RPC of a node", () => {
  it('answers on a port of its own, about the chain that the Bridge then knows', async () => {
    const node = await createNode({ bitcoin: true, frozenClock: true })
    open.push(node)
    const server = await serve(node, {
      port: 0,
      bitcoinRpcPort: 0,
      bitcoinRpcUser: 'me',
      bitcoinRpcPassword: 'secret',
    })
    open.push(server)
    const call = async (method: string, ...params: unknown[]) => {
      const response = await fetch(server.bitcoinRpcUrl ?? '', {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` },
        body: JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }),
      })
      return ((await response.json()) as { result: unknown }).result
    }
    expect(await call('getblockcount')).toBe(450)
    await call('createwallet', 'main')
    const address = await call('getnewaddress')
    expect(await call('generatetoaddress', 3, address)).toHaveLength(3)
    await node.request({ method: 'evm_mine' })
    const best = await call('getbestblockhash')
    expect((await node.bitcoin?.status())?.bridge).toEqual({ height: 453, hash: best })
  })

  it('is refused for a node without a Bitcoin chain', async () => {
    const node = await createNode()
    open.push(node)
    await expect(serve(node, { port: 0, bitcoinRpcPort: 0 })).rejects.toThrow(
      /"bitcoinRpcPort" has no effect/,
    )
  })
})
