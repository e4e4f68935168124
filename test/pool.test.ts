import { afterEach, describe, expect, it } from 'vitest'
import { createNode, createPool, type Node, type Pool } from '../src/index.ts'
import { BOB, COW } from './support/noting-chain.ts'

const CHAINS = 20
let base: Node | undefined
let pool: Pool | undefined
afterEach(async () => {
  await pool?.close()
  await base?.close()
})

const call = (node: Node, method: string, ...params: unknown[]) => node.request({ method, params })
const send = (node: Node, value: string) => call(node, 'eth_sendTransaction', { from: COW, to: BOB, value })
const head = async (node: Node) =>
  (await call(node, 'eth_getBlockByNumber', 'latest', false)) as { hash: string }

describe('a pool', () => {
  it('has chains that begin at the base and see nothing of each other', async () => {
    base = await createNode({ mining: 'auto', frozenClock: true })
    await send(base, '0x1')
    await send(base, '0x2')
    const start = await head(base)
    pool = await createPool({ size: CHAINS, base })
    const open = pool
    const chains = await Promise.all(
      Array.from({ length: CHAINS }, (_, index) => open.chain(`chain-${index}`)),
    )
    await send(base, '0x3')
    for (const [index, chain] of chains.entries()) {
      expect((await head(chain)).hash).toBe(start.hash)
      for (let i = 0; i <= index % 3; i++) await send(chain, `0x${(index + 1).toString(16)}`)
    }
    const before = BigInt((await call(base, 'eth_getBalance', BOB, '0x0')) as string)
    for (const [index, chain] of chains.entries()) {
      const blocks = (index % 3) + 1
      expect(Number(await call(chain, 'eth_blockNumber'))).toBe(2 + blocks)
      const balance = BigInt((await call(chain, 'eth_getBalance', BOB, 'latest')) as string)
      expect(balance - before).toBe(3n + BigInt(blocks * (index + 1)))
      // The blocks of the base are read through, also back to genesis.
      expect(await call(chain, 'eth_getBlockByNumber', '0x1', true)).toEqual(
        await call(base, 'eth_getBlockByNumber', '0x1', true),
      )
    }
    // One that goes back below the base leaves the others as they are.
    await call(chains[0] as Node, 'evm_reset')
    expect(await call(chains[0] as Node, 'eth_blockNumber')).toBe('0x0')
    expect(await call(chains[3] as Node, 'eth_blockNumber')).toBe('0x3')
    expect(await call(base, 'eth_blockNumber')).toBe('0x3')
  })

  it('gives the same chain for the same name until it is closed, and works on after its base', async () => {
    base = await createNode()
    await send(base, '0x1')
    pool = await createPool({ size: 1, base })
    await base.close()
    const first = await pool.chain('a')
    expect(await pool.chain('a')).toBe(first)
    await expect(pool.chain('b')).rejects.toThrow('no more than 1 chains can be open at once')
    await call(first, 'evm_mine')
    await first.close()
    expect(pool.names()).toEqual([])
    const again = await pool.chain('a')
    expect(await call(again, 'eth_blockNumber')).toBe('0x1')
  })

  it('needs no base, and refuses a size and a base that it cannot use', async () => {
    pool = await createPool()
    expect(await call(await pool.chain('a'), 'eth_blockNumber')).toBe('0x0')
    await expect(createPool({ size: 0 })).rejects.toThrow('Option "size" expects')
    await expect(createPool({ base: {} as Node })).rejects.toThrow('This is no node of createNode.')
  })
})
