import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import type { NodeOptions } from '../../src/options/options.ts'
import { startCommand } from '../support/command.ts'
import { servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ANVIL, describeWith } from '../support/tools.ts'
import {
  readWord,
  receiptOf,
  request,
  sendCall,
  tokenAbi,
  type UpstreamChain,
  upstreamChain,
} from '../support/upstream-chain.ts'

const balanceOf = (account: Hex | undefined) => tokenAbi.encodeFunctionData('balanceOf', [account])
const transferTo = (account: Hex | undefined, amount: bigint) =>
  tokenAbi.encodeFunctionData('transfer', [account, amount])

const open: { close(): Promise<unknown> }[] = []

async function forkOf(url: string, options: NodeOptions = {}): Promise<Node> {
  const node = await createNode({ fork: url, forkCache: false, ...options })
  open.push(node)
  return node
}

afterAll(async () => {
  for (const each of open.reverse()) await each.close()
})

/** A client of a URL with the form of a node in process. */
function clientOf(url: string): Pick<Node, 'request'> {
  return {
    async request({ method, params }) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      })
      const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
      if (error !== undefined) throw new Error(error.message)
      return result
    },
  }
}

async function anvil(args: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(ANVIL.path, ['--port', '0', ...args])
  open.push({
    async close() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    const address = /Listening on (\S+)/.exec(printed)?.[1]
    if (address !== undefined) {
      child.stdout.resume()
      return { url: `http://${address}`, child }
    }
  }
  throw new Error(`anvil ended: ${printed}`)
}

describeWith(ANVIL, 'a fork of Anvil', () => {
  it('continues from its state, with a notice that this chain’s rules apply', async () => {
    const { url } = await anvil([])
    const upstream = clientOf(url)
    const chain = await upstreamChain(upstream)
    const warnings: string[] = []
    const logger = { info() {}, warn: (text: string) => void warnings.push(text), error() {}, debug() {} }
    const fork = await forkOf(url, { preset: 'anvil', logger })
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^the upstream http:\/\/127\.0\.0\.1:\d+ \(anvil\/\S+\) is of another family: gas, opcodes and precompiled contracts here are this chain's$/,
      ),
    )
    const { accounts, token, transfer } = chain
    expect(await request(fork, 'eth_chainId')).toBe('0x7a69')
    expect(await readWord(fork, token, balanceOf(accounts[1]))).toBe(1000n)
    const hash = await sendCall(fork, accounts[1], token, transferTo(accounts[2], 1n))
    expect(await request(fork, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(await readWord(fork, token, balanceOf(accounts[2]))).toBe(1n)
    expect(await request(fork, 'eth_getTransactionReceipt', transfer)).toMatchObject({ status: '0x1' })
    expect(await request<unknown[]>(fork, 'eth_getLogs', { fromBlock: '0x0', address: token })).toHaveLength(
      (await request<unknown[]>(upstream, 'eth_getLogs', { fromBlock: '0x0', address: token })).length + 1,
    )
  })
})

describeWith(ANVIL, 'Anvil as a fork of this node', () => {
  it('continues from its state', async () => {
    const upstream = await servedNode({ preset: 'anvil' })
    open.push(upstream)
    const chain = await upstreamChain(upstream.node)
    const { url } = await anvil(['--fork-url', upstream.url])
    const fork = clientOf(url)
    expect(await readWord(fork, chain.token, balanceOf(chain.accounts[1]))).toBe(1000n)
    const hash = await sendCall(fork, chain.accounts[1], chain.token, transferTo(chain.accounts[2], 1n))
    expect(await receiptOf(fork, hash)).toMatchObject({ status: '0x1' })
  })
})

/** Passes requests on, until it leaves them without an answer. */
async function proxyOf(url: string) {
  let isHanging = false
  let hanging: (() => void) | undefined
  const server = createServer(async (incoming, outgoing) => {
    if (isHanging) return hanging?.()
    const body = Buffer.concat(await incoming.toArray())
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body })
    outgoing.setHeader('Content-Type', 'application/json').end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    async close() {
      server.closeAllConnections()
      server.close()
    },
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when the first request has come that gets no answer. */
    hang: () =>
      new Promise<void>((resolve) => {
        isHanging = true
        hanging = resolve
      }),
  }
}

describe('a fork', () => {
  let upstream: Awaited<ReturnType<typeof servedNode>>
  let chain: UpstreamChain
  beforeAll(async () => {
    upstream = await servedNode()
    open.push(upstream)
    chain = await upstreamChain(upstream.node)
  })

  it('answers from its cache while its upstream hangs', async () => {
    const proxy = await proxyOf(upstream.url)
    const { accounts, token, list } = chain
    const fork = await forkOf(proxy.url, { forkRetries: 0 })
    expect(await readWord(fork, token, balanceOf(accounts[1]))).toBe(1000n)
    await request(fork, 'evm_mine')
    const asked = proxy.hang()
    const waiting = request(fork, 'eth_getCode', list, 'latest').catch((error: Error) => error)
    await asked
    expect(await readWord(fork, token, balanceOf(accounts[1]))).toBe(1000n)
    expect(await request(fork, 'eth_blockNumber')).toMatch(/^0x/)
    const transfer = { from: accounts[1], to: accounts[1], value: '0x1' }
    expect(await request(fork, 'eth_sendTransaction', transfer)).toMatch(/^0x/)
    await fork.close()
    expect(await waiting).toBeInstanceOf(Error)
  })

  it('keeps its blocks after kill -9 during a fetch, and continues from the same block', async () => {
    const proxy = await proxyOf(upstream.url)
    const { accounts, token, list } = chain
    const dataDir = temporaryFolder()
    const args = ['--fork', proxy.url, '--no-fork-cache', '--data-dir', dataDir]
    const first = await startCommand(args)
    const hash = await sendCall(clientOf(first.url), accounts[1], token, transferTo(accounts[6], 3n))
    const receipt = await request(clientOf(first.url), 'eth_getTransactionReceipt', hash)
    const asked = proxy.hang()
    const waiting = request(clientOf(first.url), 'eth_getCode', list, 'latest').catch((error: Error) => error)
    await asked
    await first.end('SIGKILL')
    expect(await waiting).toBeInstanceOf(Error)
    await request(upstream.node, 'evm_mine')
    const second = await startCommand(['--fork', upstream.url, ...args.slice(2)])
    const client = clientOf(second.url)
    expect(await request(client, 'eth_getTransactionReceipt', hash)).toEqual(receipt)
    expect(await readWord(client, token, balanceOf(accounts[6]))).toBe(3n)
    await second.end('SIGTERM')
  })
})
