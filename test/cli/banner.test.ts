import { afterEach, describe, expect, it } from 'vitest'
import { bannerLines } from '../../src/cli/banner.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { servedNode } from '../support/served-node.ts'

const WORDS = 'test test test test test test test test test test test junk'
const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const COW_KEY = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'

let node: Node
afterEach(() => node.close())

async function banner(options: Parameters<typeof createNode>[0], dataDir?: string): Promise<string> {
  node = await createNode(options)
  const lines = bannerLines({ engine: node.engine, dataDir, mining: node.options.mining })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
  return lines.join('\n').replace(/\x1b\[\d+m/g, '')
}

describe('the banner', () => {
  it('shows the chain, the data directory, and the accounts with their keys', async () => {
    const text = await banner({ mining: 'manual' }, '/data')
    expect(text).toMatch(/Chain +regtest, id 33 \(0x21\)\nData +\/data\nMining +on request\nAccounts +11\n/)
    expect(text).toContain(`0 ${COW} ${COW_KEY}`)
  })

  it('shows that the chain is in memory, and that there are no accounts', async () => {
    const text = await banner({ wallet: false })
    expect(text).toContain('in memory')
    expect(text).toMatch(/Accounts +none/)
  })

  it('does not show keys on a public network', async () => {
    const text = await banner({ chain: 'testnet', mnemonic: WORDS, accounts: 1, mining: 'manual' })
    const [address] = node.engine.accounts.list()
    expect(text).toContain(String(address))
    expect(text).not.toMatch(/0x[0-9a-f]{64}/)
  })

  it('shows the Bitcoin chain beside it', async () => {
    node = await createNode()
    const lines = bannerLines({
      engine: node.engine,
      dataDir: undefined,
      mining: 'auto',
      federation: 'manual',
    }).join('\n')
    expect(lines).toMatch(/Bitcoin.* regtest, federation manual/)
  })

  it('shows the address of the explorer', async () => {
    node = await createNode()
    const explorer = 'http://127.0.0.1:4444/'
    const lines = bannerLines({ engine: node.engine, dataDir: undefined, mining: 'auto', explorer })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    expect(lines.map((line) => line.replace(/\x1b\[\d+m/g, ''))).toContain(`Explorer  ${explorer}`)
  })

  it('shows the upstream and block of a fork, without secrets', async () => {
    const upstream = await servedNode()
    const { hash } = upstream.node.engine.queries.head()
    const { origin } = new URL(upstream.url)
    const text = await banner({ fork: `${origin}/secret?key=secret`, forkCache: false })
    expect(text).toContain(`\nFork      of ${origin} (chain id 33) at block 0 (${hash})\n`)
    expect(text).not.toMatch(/secret/)
    await upstream.close()
  })

  it('lists twenty accounts at most', async () => {
    expect((await banner({ accounts: 50 })).match(/0x[0-9a-f]{40} /g)).toHaveLength(20)
  })
})
