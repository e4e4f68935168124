/** The hosted gateway as operators start it and as teams use it: the command, real clients, a key in the address. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { JsonRpcProvider, Wallet, WebSocketProvider } from 'ethers'
import { createPublicClient, http, webSocket } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type KeyFileOfTest, keyFile } from '../support/api-keys.ts'
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts'

const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79' as const

let keys: KeyFileOfTest
let team: string
let running: RunningCommand
beforeAll(async () => {
  keys = keyFile()
  const rights = [
    '--allow',
    'eth,net,web3,trace',
    '--state-override',
    '--rate',
    '50/s',
    '--quota',
    '25000/day',
  ]
  const made = await runCommand(['keys', 'create', '--api-keys', keys.file, '--name', 'team', ...rights])
  team = made.stdout.trim()
  running = await startCommand(['--memory', '--profile', 'hosted', '--api-keys', keys.file])
})
afterAll(async () => {
  if (running.child.exitCode === null) await running.end('SIGKILL')
  keys.remove()
})

describe('the hosted gateway', () => {
  const opened: { destroy(): unknown }[] = []
  afterEach(async () => {
    for (const provider of opened.splice(0)) await provider.destroy()
  })

  it('serves ethers, over HTTP and WebSocket', async () => {
    const provider = new JsonRpcProvider(`${running.url}/${team}`)
    const socket = new WebSocketProvider(`${running.wsUrl}/${team}`)
    opened.push(provider, socket)
    for (const one of [provider, socket]) {
      expect((await one.getNetwork()).chainId).toBe(33n)
      expect(await one.send('eth_accounts', [])).toEqual([])
    }
    const head = await provider.getBlockNumber()
    const mined = new Promise((resolve) => {
      void socket.once('block', resolve)
    })
    await socket.getBlockNumber()
    const wallet = new Wallet(COW, provider)
    const sent = await wallet.sendTransaction({
      to: BOB,
      value: 5n,
      gasPrice: 0n,
      gasLimit: 21_000n,
      type: 0,
    })
    expect((await sent.wait())?.blockNumber).toBe(head + 1)
    expect(await socket.getTransactionReceipt(sent.hash)).toMatchObject({ status: 1 })
    expect(await provider.send('trace_transaction', [sent.hash])).toMatchObject([
      { action: { value: '0x5' } },
    ])
    expect(await mined).toBe(head + 1)
    await expect(provider.send('evm_mine', [])).rejects.toMatchObject({ info: { error: { code: -32601 } } })
    await expect(provider.call({ data: '0x00' })).rejects.toMatchObject({
      info: {
        error: {
          code: -32602,
          message: 'Invalid transaction.to: expected an address; the hosted profile simulates calls only.',
        },
      },
    })
  })

  it('serves viem, with state overrides', async () => {
    for (const transport of [
      http(`${running.url}/${team}`),
      webSocket(`${running.wsUrl}/${team}`, { reconnect: false }),
    ]) {
      const client = createPublicClient({ transport })
      expect(await client.getChainId()).toBe(33)
      expect(await client.getBalance({ address: BOB })).toBeGreaterThan(0n)
      const stateOverride = [{ address: BOB, code: '0x600160005260206000f3' as const }]
      expect((await client.call({ to: BOB, stateOverride })).data).toMatch(/1$/)
      if ('getRpcClient' in client.transport) (await client.transport.getRpcClient()).close()
    }
  })

  it('refuses viem without a valid key', async () => {
    const client = createPublicClient({ transport: http(`${running.url}/${team}x`, { retryCount: 0 }) })
    await expect(client.getChainId()).rejects.toThrow(/API key missing or not valid/)
  })

  it('closes a socket when the command revokes its key, and logs no key', async () => {
    const key = await keys.add('leaver')
    const call = () =>
      fetch(`${running.url}/${key}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"net_version","params":[]}',
      })
    // The new key is good as soon as the file was read again.
    await expect.poll(async () => (await call()).status, { timeout: 20_000 }).toBe(200)
    const socket = new WebSocket(`${running.wsUrl}/${key}`)
    await once(socket, 'open')
    const closed = once(socket, 'close')
    expect(await runCommand(['keys', 'revoke', '--api-keys', keys.file, 'leaver'])).toMatchObject({ code: 0 })
    expect((await closed)[0]).toBe(1008)
    expect((await call()).status).toBe(401)
    const everything = running.output() + readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8')
    for (const secret of [key, team]) expect(everything).not.toContain(secret)
    expect(await running.end('SIGTERM')).toBe(0)
  })
})

it('a start with a missing key file ends with a message', async () => {
  const { code, stderr } = await runCommand([
    'start',
    '--memory',
    '--port',
    '0',
    '--api-keys',
    '/nowhere/keys.json',
  ])
  expect(stderr).toBe(
    'tandem: There is no key file /nowhere/keys.json: make one with tandem keys create --api-keys /nowhere/keys.json --name <name>.\n',
  )
  expect(code).toBe(2)
})
