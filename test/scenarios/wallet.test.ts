/** The wallet as client libraries use it, on disk and through a kill. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { JsonRpcProvider, Transaction, verifyMessage, verifyTypedData, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, http, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Web3 } from 'web3'
import { createNode } from '../../src/index.ts'
import { startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { saying } from '../support/refusals.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const KEY = `0x${'07'.repeat(32)}` as const
const STORED = new Wallet(KEY).address.toLowerCase() as `0x${string}`
/** In milliseconds. The library passes it on, and the reference node takes no bare number. */
const MINUTE = '0xea60' as never
const types = { Mail: [{ name: 'contents', type: 'string' }] }
const domain = { name: 'Mail', chainId: 33 }

let served: ServedNode
beforeAll(async () => {
  served = await servedNode()
})
afterAll(() => served.close())

describe('ethers', () => {
  it('signs with an account of the node, and sends from it', async () => {
    const provider = new JsonRpcProvider(served.url, undefined, { staticNetwork: true, cacheTimeout: -1 })
    try {
      const signer = await provider.getSigner(COW)
      expect(verifyMessage('hello', await signer.signMessage('hello'))).toBe(signer.address)
      expect(verifyMessage('hello', await signer._legacySignMessage('hello'))).toBe(signer.address)
      const message = { contents: 'Hello' }
      const typed = await signer.signTypedData(domain, types, message)
      expect(verifyTypedData(domain, types, message, typed)).toBe(signer.address)
      expect(await signer.unlock('any')).toBe(false)
      const sent = await signer.sendTransaction({ to: BOB, value: 1n })
      expect((await sent.wait())?.status).toBe(1)
    } finally {
      provider.destroy()
    }
  })
})

describe('viem', () => {
  it('signs with an account of the node, and sends from it', async () => {
    const chain = defineChain({
      id: 33,
      name: 'local',
      nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
      rpcUrls: { default: { http: [served.url] } },
    })
    const client = createWalletClient({ account: COW, chain, transport: http(), pollingInterval: 20 })
    const reader = createPublicClient({ chain, transport: http(), pollingInterval: 20 })
    expect(verifyMessage('hello', await client.signMessage({ message: 'hello' })).toLowerCase()).toBe(COW)
    const message = { contents: 'Hello' }
    const typed = await client.signTypedData({ domain, types, primaryType: 'Mail', message })
    expect(verifyTypedData(domain, types, message, typed).toLowerCase()).toBe(COW)
    const raw = await client.signTransaction({
      to: BOB,
      value: 5n,
      gas: 21_000n,
      gasPrice: 1n,
      type: 'legacy',
    })
    expect(parseTransaction(raw)).toMatchObject({ to: BOB, value: 5n, gas: 21_000n, chainId: 33 })
    const hash = await reader.sendRawTransaction({ serializedTransaction: raw })
    expect((await reader.waitForTransactionReceipt({ hash })).status).toBe('success')
  })
})

describe('web3.js', () => {
  it('makes, unlocks and locks accounts, and sends with a passphrase', async () => {
    const web3 = new Web3(served.url)
    const { eth } = web3
    const { personal } = eth
    const account = await personal.newAccount('moo')
    expect((await personal.getAccounts()).map((address) => address.toLowerCase())).toContain(
      account.toLowerCase(),
    )
    expect(await personal.lockAccount(account)).toBe(true)
    await expect(eth.sign('0x1234', account)).rejects.toThrow(saying('Returned error: Account not found'))
    await expect(personal.unlockAccount(account, 'Moo', MINUTE)).rejects.toThrow(
      saying('Returned error: Internal server error'),
    )
    expect(await personal.unlockAccount(account, 'moo', MINUTE)).toBe(true)
    const signature = await personal.sign('0x1234', account, 'moo')
    expect((await personal.ecRecover('0x1234', signature)).toLowerCase()).toBe(account.toLowerCase())
    await personal.lockAccount(account)

    await eth.sendTransaction({ from: COW, to: account, value: 10n ** 18n, gasPrice: 0 })
    const transaction = { from: account, to: BOB, value: '0x1', gas: '0x5208', gasPrice: '0x1' }
    await expect(eth.sendTransaction(transaction)).rejects.toThrow(/Could not find account/)
    const hash = await personal.sendTransaction(transaction, 'moo')
    // Even under automining it waits for the next block.
    expect(await rpc(served.url, 'eth_getTransactionReceipt', [hash])).toBeNull()
    await rpc(served.url, 'evm_mine')
    expect((await eth.getTransactionReceipt(hash)).status).toBe(1n)
    await expect(eth.sign('0x1234', account)).rejects.toThrow(saying('Returned error: Account not found'))
  })

  it('signs a transaction without sending it', async () => {
    const web3 = new Web3(served.url)
    const fields = { from: COW, to: BOB, value: '0x1', gas: '0x5208', gasPrice: '0x1', nonce: '0x63' }
    const { raw } = await web3.eth.signTransaction(fields)
    expect(Transaction.from(raw as string)).toMatchObject({ nonce: 99, value: 1n })
    expect(Transaction.from(raw as string).from?.toLowerCase()).toBe(COW)
    expect(await rpc(served.url, 'txpool_status')).toEqual({ pending: 0, queued: 0 })
  })
})

describe('a node', () => {
  it('answers other calls while a key is derived from a passphrase', async () => {
    const node = await createNode()
    try {
      let settled = false
      const making = node.request({ method: 'personal_newAccount', params: ['moo'] }).then(() => {
        settled = true
      })
      let answered = 0
      for (; !settled; answered++) {
        await node.request({ method: 'eth_blockNumber' })
        await new Promise((resolve) => setImmediate(resolve))
      }
      // On the main thread it would have been over before the first turn; a busy machine takes few turns meanwhile.
      expect(answered).toBeGreaterThan(1)
      await making
    } finally {
      await node.close()
    }
  })

  it('has the acknowledged accounts after a kill, complete and locked', async () => {
    const dir = temporaryFolder()
    const killed = await startCommand(['--data-dir', dir])
    expect(await rpc(killed.url, 'personal_importRawKey', [KEY, 'moo'])).toBe(STORED)
    const acknowledged = await rpc(killed.url, 'personal_newAccount', ['baa'])
    // Cut off while it is being made.
    const unanswered = rpc(killed.url, 'personal_newAccount', ['moo']).catch(() => {})
    await killed.end('SIGKILL')
    await unanswered

    const folder = join(dir, 'keystore')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    const node = await createNode({ dataDir: dir })
    try {
      const request = (method: string, ...params: unknown[]) => node.request({ method, params })
      const accounts = (await request('eth_accounts')) as string[]
      expect(accounts.length).toBe(11 + names.length)
      expect(accounts).toEqual(expect.arrayContaining([STORED, acknowledged]))
      await expect(request('eth_sign', acknowledged, '0x')).rejects.toThrow(saying('Account not found'))
      expect(await request('personal_unlockAccount', acknowledged, 'baa', null)).toBe(true)
      expect(await request('eth_sign', acknowledged, '0x')).toMatch(/^0x[0-9a-f]{130}$/)
    } finally {
      await node.close()
    }
  })

  it('does not read keys when it has no wallet', async () => {
    const dataDir = temporaryFolder()
    const before = await createNode({ dataDir })
    await before.request({ method: 'personal_importRawKey', params: [KEY, 'moo'] })
    await before.close()
    const node = await createNode({ dataDir, wallet: false })
    try {
      expect(await node.request({ method: 'eth_accounts' })).toEqual([])
      await expect(node.request({ method: 'personal_listAccounts' })).rejects.toMatchObject({ code: -32604 })
    } finally {
      await node.close()
    }
  })
})
