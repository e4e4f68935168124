import { afterEach, describe, expect, it } from 'vitest'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { createNode, createPool, type Node, type Pool, serve } from '../../src/index.ts'
import { BOB, COW } from '../support/noting-chain.ts'
import { saying } from '../support/refusals.ts'
import { servedNode } from '../support/served-node.ts'

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
  it('has chains that begin at the base and are isolated from each other', async () => {
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

  it('gives the same chain for the same name until it is closed, and continues after its base is closed', async () => {
    base = await createNode()
    await send(base, '0x1')
    pool = await createPool({ size: 1, base })
    await base.close()
    const first = await pool.chain('a')
    expect(await pool.chain('a')).toBe(first)
    await expect(pool.chain('b')).rejects.toThrow(saying('no more than 1 chain can be open at once'))
    await call(first, 'evm_mine')
    await first.close()
    expect(pool.names()).toEqual([])
    const again = await pool.chain('a')
    expect(await call(again, 'eth_blockNumber')).toBe('0x1')
  })

  it('copies the chain that its base runs after a reset to a fork was cancelled', async () => {
    const caller = new AbortController()
    const upstream = await servedNode({ onCall: () => caller.abort() })
    base = await createNode({ forkCache: false, forkRetries: 0, frozenClock: true })
    await send(base, '0x1')
    const params = [{ forking: { jsonRpcUrl: upstream.url } }]
    const reset = base.request({ method: 'anvil_reset', params, signal: caller.signal })
    await expect(reset).rejects.toThrow(saying('The call was cancelled: it was not carried out.'))
    pool = await createPool({ size: 1, base })
    expect(await head(await pool.chain('a'))).toEqual(await head(base))
    await upstream.close()
  })

  it('gives each chain its own copy of the clock, the modes, the accounts and the names of the base', async () => {
    // Without a time limit: scrypt is slow on a busy machine.
    const options = {
      preset: 'hardhat',
      frozenClock: 1_700_000_000,
      mining: 'manual',
      rpcTimeoutMs: 0,
    } as const
    base = await createNode(options)
    const stranger = '0x00000000000000000000000000000000deadbeef'
    const encrypted = await call(base, 'personal_newAccount', 'open')
    const seeded = await call(base, 'personal_newAccountWithSeed', 'a seed')
    await call(base, 'evm_increaseTime', 1000)
    await call(base, 'hardhat_setCoinbase', stranger)
    await call(base, 'hardhat_impersonateAccount', stranger)
    await call(base, 'hardhat_setBalance', stranger, '0xde0b6b3a7640000')
    const abi = (name: string) => [{ type: 'error', name, inputs: [] }]
    await call(base, 'evm_setAbi', 'Errors', abi('Earlier'))
    pool = await createPool({ base })
    await call(base, 'evm_increaseTime', 5000)
    await call(base, 'evm_setAbi', 'Errors', abi('Later'))
    await call(base, 'hardhat_stopImpersonatingAccount', stranger)
    await call(base, 'personal_lockAccount', seeded)
    const [one, two] = [await pool.chain('one'), await pool.chain('two')]

    expect(one.engine.dev.miningMode()).toBe('manual')
    await call(one, 'eth_sendTransaction', { from: stranger, to: BOB, value: '0x1' })
    expect(await call(one, 'eth_blockNumber')).toBe('0x0')
    await call(one, 'evm_mine')
    expect(await call(one, 'eth_getBlockByNumber', '0x1', false)).toMatchObject({
      timestamp: `0x${(1_700_001_000).toString(16)}`,
      miner: stranger,
    })

    const selector = (name: string) => keccakHex(new TextEncoder().encode(`${name}()`)).slice(0, 10)
    const known = (node: Node, name: string) => node.engine.names.error(fromHex(selector(name) as Hex))?.name
    expect([known(one, 'Earlier'), known(one, 'Later')]).toEqual(['Earlier', undefined])
    await call(one, 'evm_setAbi', 'Errors', abi('OfOne'))
    expect([known(one, 'OfOne'), known(one, 'Earlier')]).toEqual(['OfOne', 'Earlier'])
    expect([known(two, 'OfOne'), known(two, 'Earlier'), known(base, 'OfOne')]).toEqual([
      undefined,
      'Earlier',
      undefined,
    ])

    // Plain keys sign; encrypted ones have to be unlocked in each chain.
    expect(await call(two, 'eth_accounts')).toEqual(expect.arrayContaining([seeded, encrypted]))
    await call(two, 'eth_sign', seeded, '0x00')
    await expect(call(two, 'eth_sign', encrypted, '0x00')).rejects.toThrow(saying('Account not found'))
    expect(await call(two, 'personal_unlockAccount', encrypted, 'open', '0x3c')).toBe(true)
    await call(two, 'eth_sign', encrypted, '0x00')
    await expect(call(one, 'eth_sign', encrypted, '0x00')).rejects.toThrow(saying('Account not found'))
    // One that forgets a key wipes its own copy.
    await call(two, 'personal_lockAccount', seeded)
    await call(one, 'eth_sign', seeded, '0x00')
    await call(await pool.chain('three'), 'eth_sign', seeded, '0x00')
  })

  it('needs no base, and refuses a size and a base that it cannot use', async () => {
    pool = await createPool()
    expect(await call(await pool.chain('a'), 'eth_blockNumber')).toBe('0x0')
    await expect(createPool({ size: 0 })).rejects.toMatchObject({
      message: 'Option "size" expects a whole number of chains from 1 on, not 0.',
    })
    const upstream = await servedNode()
    base = await createNode({ fork: [upstream.url] })
    const message = 'A pool cannot copy a fork: name a node with a chain of its own.'
    await expect(createPool({ base })).rejects.toMatchObject({ message })
    await expect(serve(base, { port: 0, pool: 2 })).rejects.toMatchObject({ message })
    await upstream.close()
    await expect(createPool({ base: {} as Node })).rejects.toThrow(
      saying('This is not a node of createNode.'),
    )
  })
})
