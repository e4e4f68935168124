/** A whole node on a network that a JSON file defines, and its data directory. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const regtest = JSON.parse(
  readFileSync(new URL('../../src/chain/networks/regtest.json', import.meta.url), 'utf8'),
)
const FUNDED = `0x${'12'.repeat(20)}`

/** A folder for one test: writes files, of which the first defines a network. */
function definitions() {
  const folder = temporaryFolder()
  const write = (name: string, json: object): string => {
    const path = join(folder, name)
    writeFileSync(path, JSON.stringify(json))
    return path
  }
  const genesis = JSON.parse(readFileSync(new URL('../../genesis/regtest.json', import.meta.url), 'utf8'))
  genesis.alloc[FUNDED.slice(2)] = { balance: '77' }
  const remasc = { ...regtest.remasc, maturity: 8 }
  const mine = { ...regtest, name: 'mine', chainId: 4242, genesis, remasc }
  return { folder, write, mine, chain: write('mine.json', mine) }
}

describe('a network of a file', () => {
  it('runs, and is continued from its directory', async () => {
    const { folder, write, mine, chain } = definitions()
    const dataDir = join(folder, 'data')
    const options = { chain, dataDir, mining: 'manual' } as const
    const first = await createNode(options)
    const ask = (node: typeof first, method: string, ...params: unknown[]) => node.request({ method, params })
    let hash: unknown
    try {
      expect(await ask(first, 'eth_chainId')).toBe('0x1092')
      expect(await ask(first, 'eth_getBalance', FUNDED, 'latest')).toBe('0x4d')
      expect(((await ask(first, 'eth_accounts')) as string[]).length).toBe(11)
      await ask(first, 'evm_mine')
      hash = ((await ask(first, 'eth_getBlockByNumber', 'latest', false)) as { hash: string }).hash
    } finally {
      await first.close()
    }
    const again = await createNode(options)
    try {
      const head = (await ask(again, 'eth_getBlockByNumber', 'latest', false)) as { hash: string }
      expect(head.hash).toBe(hash)
    } finally {
      await again.close()
    }
    await expect(createNode({ dataDir })).rejects.toThrow('is of chain mine (chain id 4242), not regtest')
    const other = write('other.json', { ...mine, maxSecondsInFuture: 9 })
    await expect(createNode({ chain: other, dataDir })).rejects.toThrow(
      'is of another network mine: its maxSecondsInFuture are not those of the file that --chain names',
    )
  })

  it('is in the state file of its chain, which loads where the definition is the same', async () => {
    const { folder, write, mine, chain } = definitions()
    const other = write('other.json', { ...mine, maxSecondsInFuture: 9 })
    const options = { mining: 'manual' } as const
    const from = await createNode({ ...options, chain })
    const to = await createNode({ ...options, chain: other })
    const equal = await createNode({ ...options, chain, dataDir: join(folder, 'data') })
    try {
      const dump = (history: boolean) => from.request({ method: 'anvil_dumpState', params: [history] })
      const load = (node: typeof from, state: unknown) =>
        node.request({ method: 'anvil_loadState', params: [state] })
      await from.request({ method: 'evm_mine', params: [] })
      const whole = (await dump(true)) as string
      const file = JSON.parse(gunzipSync(Buffer.from(whole.slice(2), 'hex')).toString())
      expect(file.network).toEqual(mine)
      await expect(load(to, whole)).rejects.toThrow(
        'The chain of the state file is of another network mine: its maxSecondsInFuture are not those of this chain.',
      )
      await load(equal, whole)
      const heads = [from, equal].map((node) =>
        node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
      )
      const [made, loaded] = await Promise.all(heads)
      expect(loaded).toEqual(made)
      await load(to, await dump(false))
    } finally {
      await Promise.all([from, to, equal].map((node) => node.close()))
    }
  })

  it('pays rewards at the least maturity, and refuses one below, which has too few blocks above', async () => {
    const { write } = definitions()
    const chain = (maturity: number) => {
      const remasc = { ...regtest.remasc, maturity, syntheticSpan: 1 }
      return write(`${maturity}.json`, { ...regtest, name: 'short', remasc })
    }
    await expect(createNode({ chain: chain(7) })).rejects.toThrow('remasc.maturity: ')
    const node = await createNode({ chain: chain(8), mining: 'manual' })
    try {
      for (let block = 1; block <= 12; block++) await node.request({ method: 'evm_mine', params: [] })
      expect(await node.request({ method: 'eth_blockNumber', params: [] })).toBe('0xc')
    } finally {
      await node.close()
    }
  })

  it('is refused with its file and member', async () => {
    const { folder, write } = definitions()
    const bad = (name: string, change: object) =>
      createNode({ chain: write(name, { ...regtest, ...change }) })
    await expect(bad('a.json', {})).rejects.toThrow('name: regtest is a network of this version')
    await expect(bad('b.json', { name: 'b', remasc: 5 })).rejects.toThrow(
      `network file ${join(folder, 'b.json')}: remasc: `,
    )
    await expect(createNode({ chain: join(folder, 'none.json') })).rejects.toThrow('cannot be read: ENOENT')
    const genesis = { ...regtest, name: 'c', genesis: { alloc: 5 } }
    await expect(createNode({ chain: write('c.json', genesis) })).rejects.toThrow(
      'genesis file: parentHash: ',
    )
    await expect(createNode({ chain: 'testnet3' })).rejects.toThrow(
      'one of regtest, devnet, testnet, testnet2, mainnet, or the path of a JSON file',
    )
  })

  it('may be testnet2', async () => {
    const node = await createNode({ chain: 'testnet2', mining: 'manual' })
    try {
      expect(await node.request({ method: 'eth_chainId', params: [] })).toBe('0x22')
      expect(await node.request({ method: 'eth_accounts', params: [] })).toEqual([])
    } finally {
      await node.close()
    }
  })
})
