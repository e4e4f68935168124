/** State files over JSON-RPC: every kind that is taken, those of Anvil both ways, and refusals that change nothing. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { createNode, type NodeOptions } from '../../../src/index.ts'
import { startAnvil } from '../../support/anvil-frames.ts'
import { fixture } from '../../support/fixture.ts'
import { ask, pictureOf } from '../../support/state-files.ts'
import { ANVIL, describeWith } from '../../support/tools.ts'

const X = `0x${'1a'.repeat(20)}`
const Y = `0x${'1b'.repeat(20)}`
const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

async function nodeWith(options: NodeOptions = {}) {
  const node = await createNode(options)
  onTestFinished(() => node.close())
  return node
}
type Node = Awaited<ReturnType<typeof nodeWith>>

interface Answers {
  readonly balance: string
  readonly nonce: string
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

async function answersOf(node: Node, address: string, slots: readonly string[]): Promise<Answers> {
  const of = (method: string, ...more: unknown[]) => ask(node, method, address, ...more, 'latest')
  const storage: Record<string, string> = {}
  for (const slot of slots) storage[slot] = await of('eth_getStorageAt', slot)
  return {
    balance: await of('eth_getBalance'),
    nonce: await of('eth_getTransactionCount'),
    code: await of('eth_getCode'),
    storage,
  }
}

const textOf = (dump: string): string => gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()
/** The text of a changed state file with the checksum that fits. */
function signed(text: string): string {
  const content = text.slice(0, text.lastIndexOf(',"checksum":"'))
  return `${content},"checksum":"${createHash('sha256').update(content).digest('hex')}"}`
}

it('loads a dump of Anvil with accounts equal to those of Anvil', async () => {
  const { accounts, dump } = fixture<{ accounts: Record<string, Answers>; dump: string }>(
    'state-files/anvil.json',
  )
  const forms = [
    dump,
    JSON.parse(textOf(dump)),
    textOf(dump),
    `0x${Buffer.from(textOf(dump)).toString('hex')}`,
  ]
  for (const form of forms) {
    const node = await nodeWith()
    expect(await ask(node, 'anvil_loadState', form)).toBe(true)
    for (const [address, expected] of Object.entries(accounts)) {
      expect(await answersOf(node, address, Object.keys(expected.storage))).toEqual(expected)
    }
  }
})

it.each<[string, object]>([
  [
    'accounts of geth',
    { [X]: { balance: '0x10', nonce: '0x3', code: '0x6001', storage: { '0x01': '0x2a' } } },
  ],
  [
    'accounts with decimal numbers and no 0x',
    { [X.slice(2)]: { balance: '16', nonce: 3, code: '6001', storage: { '01': '2a' } } },
  ],
  [
    'a genesis file of geth',
    {
      config: { chainId: 33 },
      alloc: { [X]: { balance: '0x10', nonce: '0x3', code: '0x6001', storage: { [word('1')]: word('2a') } } },
    },
  ],
  [
    'a genesis file of the reference node',
    {
      coinbase: X,
      alloc: {
        '00': {},
        [X.slice(2)]: { balance: '16', nonce: '3', contract: { code: '6001', data: { '01': '2a' } } },
      },
    },
  ],
])('loads %s', async (_, file) => {
  const node = await nodeWith()
  expect(await ask(node, 'evm_loadState', file)).toBe(true)
  expect(await answersOf(node, X, ['0x1'])).toEqual({
    balance: '0x10',
    nonce: '0x3',
    code: '0x6001',
    storage: { '0x1': word('2a') },
  })
})

it("loads the chain's own genesis file of the reference node", async () => {
  const file = JSON.parse(readFileSync(new URL('../../../genesis/regtest.json', import.meta.url), 'utf8'))
  const node = await nodeWith({ accounts: 0 })
  const root = node.engine.queries.head().postState
  await ask(node, 'anvil_setBalance', COW, '0x1')
  await ask(node, 'anvil_loadState', file)
  expect(node.engine.queries.head().postState).toBe(root)
})

it('replaces only the members that an account in the file has, and never lowers a nonce', async () => {
  const node = await nodeWith()
  await ask(node, 'hardhat_setStorageAt', X, '0x1', word('1'))
  await ask(node, 'hardhat_setStorageAt', X, '0x2', word('2'))
  await ask(node, 'hardhat_setCode', X, '0x6001')
  await ask(node, 'hardhat_setNonce', X, '0x9')
  await ask(node, 'hardhat_setBalance', Y, '0x7')
  await ask(node, 'anvil_loadState', { [X]: { balance: '0x5', nonce: '0x3', storage: { '0x2': '0x3' } } })
  expect(await answersOf(node, X, ['0x1', '0x2'])).toEqual({
    balance: '0x5',
    nonce: '0x9',
    code: '0x6001',
    storage: { '0x1': word('0'), '0x2': word('3') },
  })
  expect(await ask(node, 'eth_getBalance', Y, 'latest')).toBe('0x7')
})

it('dumps chain, version and head, and accounts in the form of Anvil', async () => {
  const node = await nodeWith()
  await ask(node, 'hardhat_setStorageAt', X, '0x1', '0x2a')
  const dump = await ask(node, 'hardhat_dumpState')
  const json = JSON.parse(textOf(dump))
  const { hash, postState, block } = node.engine.queries.head()
  const genesisRoot = block.header.stateRoot
  expect(json).toMatchObject({
    format: 'tandem-state',
    version: 1,
    chain: 'regtest',
    chainId: 33,
    genesis: hash,
    head: { number: 0, hash, stateRoot: postState },
    block: { number: '0x0', timestamp: '0x0', basefee: 0, gas_limit: 10_000_000 },
    blocks: [{ header: { number: '0x0', stateRoot: genesisRoot }, transactions: [] }],
  })
  expect(json.accounts[X]).toEqual({
    nonce: 0,
    balance: '0x0',
    code: '0x',
    storage: { [word('1')]: word('2a') },
  })
  expect(json.history).toBeUndefined()
})

it('replaces a chain, and subscribers and pool follow the new one', async () => {
  const [first, second] = [await nodeWith({ mining: 'manual' }), await nodeWith({ mining: 'manual' })]
  const [from] = await ask(first, 'eth_accounts')
  for (const node of [first, second]) await ask(node, 'evm_mine')
  await ask(first, 'eth_sendTransaction', { from, to: X, value: '0x1' })
  await ask(second, 'eth_sendTransaction', { from, to: Y, value: '0x1' })
  await ask(first, 'evm_mine')
  const filter = await ask(second, 'eth_newBlockFilter')
  await ask(second, 'anvil_loadState', await ask(first, 'anvil_dumpState', true))
  expect(await pictureOf(second)).toEqual(await pictureOf(first))
  expect(await ask(second, 'eth_getFilterChanges', filter)).toContain(first.engine.queries.head().hash)
  // Reset goes back to the loaded genesis.
  await ask(second, 'evm_reset')
  await ask(first, 'evm_reset')
  expect(await pictureOf(second)).toEqual(await pictureOf(first))
})

it('refuses an invalid file with a message, and changes nothing', async () => {
  const node = await nodeWith({ mining: 'manual' })
  await ask(node, 'hardhat_setBalance', X, '0x5')
  await ask(node, 'evm_mine')
  const [own, chain] = [
    textOf(await ask(node, 'anvil_dumpState')),
    textOf(await ask(node, 'anvil_dumpState', true)),
  ]
  await ask(node, 'evm_mine')
  const before = await pictureOf(node)
  const zipped = `0x${gzipSync(own).toString('hex')}`
  const cases: readonly (readonly [unknown, string])[] = [
    [
      own.replace('"version":1', '"version":2'),
      'The state file has version 2, and this node reads version 1.',
    ],
    [
      signed(own.replace('"chainId":33', '"chainId":31')),
      "The state file is of chain id 31, not of this chain's (regtest, chain id 33); tandem load --force loads it all the same.",
    ],
    [
      signed(own.replace('"chain":"regtest"', '"chain":"testnet"')),
      'The state file is of chain testnet (chain id 33), not regtest (chain id 33).',
    ],
    [
      own.replace('"balance":"0x5"', '"balance":"0x6"'),
      'The checksum of the state file is wrong: it was cut off or changed after it was written.',
    ],
    [own.slice(0, -100), 'The state is not JSON: it was cut off, or it is not a state file.'],
    [zipped.slice(0, -100), 'The state cannot be decompressed: it was cut off, or it is too large.'],
    [
      signed(own.replace('"balance":"0x5"', '"balance":"x"')),
      `state file: accounts.${X}.balance: must be a number`,
    ],
    [
      signed(chain.replace(/"raw":"0x/, '"raw":"0x00')),
      'block 0 of the state file: invalid RLP: remainder must be zero',
    ],
    [
      signed(chain.replace(/,"receipts":\["0x[0-9a-f]+"\]/, ',"receipts":[]')),
      'block 1 of the state file: its receipts are not those of its header',
    ],
    [
      signed(
        chain.replace(/"changes":\{"0x[0-9a-f]+":\{"nonce":"0x0"/, (text) => text.replace('"0x0"', '"0x1"')),
      ),
      'block 0 of the state file: its state is not that of its header',
    ],
    [
      signed(chain.replace(/,\{"raw".*(?=\],"pool")/, '')),
      'The blocks of the state file do not end with its head.',
    ],
    [
      { [X]: { storage: { '0x1': `0x${'1'.repeat(65)}` } } },
      `accounts: ${X}.storage.0x1: must be up to 32 bytes in hex`,
    ],
    [{ [X]: { nonce: '0x10000000000000000' } }, `accounts: ${X}.nonce: must fit in 8 bytes`],
    [
      { hello: 1 },
      'No state was found: expected a state file of tandem, a dump of Anvil, accounts by address, or a genesis file with "alloc".',
    ],
    [{ alloc: { '0x12': {} } }, 'alloc: 0x12: must be an address of 20 bytes in hex'],
    ['0x00', 'The state is not JSON: it was cut off, or it is not a state file.'],
    ['0x', 'Invalid state: expected hex of the gzip of a state file, or its JSON.'],
    [[], 'Invalid state: expected hex of the gzip of a state file, or its JSON.'],
    [null, 'Invalid state: expected hex of the gzip of a state file, or its JSON.'],
  ]
  for (const [state, message] of cases) {
    await expect(ask(node, 'anvil_loadState', state), message).rejects.toMatchObject({
      code: -32602,
      message,
    })
  }
  expect(await pictureOf(node)).toEqual(before)
})

describeWith(ANVIL, 'a dump of this node in Anvil', () => {
  it.each([false, true])('loads, with history %s', async (history) => {
    const node = await nodeWith()
    const slots = ['0x0', `0x${'f'.repeat(64)}`]
    await ask(node, 'hardhat_setBalance', X, '0x1234567890abcdef1234')
    await ask(node, 'hardhat_setNonce', X, '0x7')
    await ask(node, 'hardhat_setCode', X, '0x6001')
    for (const [i, slot] of slots.entries()) await ask(node, 'hardhat_setStorageAt', X, slot, word(`2${i}`))
    const anvil = await startAnvil(ANVIL.path)
    onTestFinished(() => anvil.close())
    expect(await anvil.call('anvil_loadState', [await ask(node, 'anvil_dumpState', history)])).toBe(true)
    const of = (method: string, ...more: unknown[]) => anvil.call(method, [X, ...more, 'latest'])
    expect(await of('eth_getBalance')).toBe('0x1234567890abcdef1234')
    expect(await of('eth_getTransactionCount')).toBe('0x7')
    expect(await of('eth_getCode')).toBe('0x6001')
    for (const [i, slot] of slots.entries()) expect(await of('eth_getStorageAt', slot)).toBe(word(`2${i}`))
    // And Anvil's dump of it loads here.
    const other = await nodeWith()
    await ask(other, 'anvil_loadState', await anvil.call('anvil_dumpState', []))
    expect(await answersOf(other, X, slots)).toEqual(await answersOf(node, X, slots))
  })
})
