/** A caller that goes ends the mining that it asked for: between two blocks, whatever its transport. */
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Node } from '../../src/index.ts'
import { saying } from '../support/refusals.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The most blocks of one call; the test ends it after a few. */
const MANY = 10_000
const TEXT = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'hardhat_mine', params: [MANY] })

let t: ServedNode
let path: string

beforeEach(async () => {
  path = join(temporaryFolder(), 'node.ipc')
  t = await servedNode({ preset: 'hardhat' }, { ipc: path })
})

afterEach(() => t.close())

/** Resolves when a block was mined. */
const mined = (node: Node) =>
  new Promise<void>((resolve) => {
    const stop = node.engine.events.on('chain', () => {
      stop()
      resolve()
    })
  })

/** Waits until what runs has ended: one more block is mined behind it, and is the head. */
async function expectStopped(): Promise<void> {
  const [last] = await t.node.engine.commands.mine()
  const head = t.node.engine.queries.head()
  expect(head.hash).toBe(last?.hash)
  const height = head.block.header.number
  expect(height).toBeGreaterThan(1)
  expect(height).toBeLessThan(MANY)
  for (let number = height; number > Math.max(0, height - 10); number--) {
    const view = await t.node.engine.queries.block({ number })
    const parent = await t.node.engine.queries.block({ number: number - 1 })
    expect(view?.executed.block.header.parentHash).toBe(parent?.executed.hash)
  }
}

/** A POST whose connection the test ends. */
function post(headers: Record<string, string> = {}): ClientRequest {
  const sent = request(t.url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } })
  sent.on('error', () => {})
  sent.end(TEXT)
  return sent
}

describe('mining stops when its caller disconnects', () => {
  it('over HTTP', async () => {
    const block = mined(t.node)
    const sent = post()
    await block
    sent.destroy()
    await expectStopped()
  })

  it('over HTTP without the fast path', async () => {
    const block = mined(t.node)
    const sent = post({ Expect: '100-continue' })
    await block
    sent.destroy()
    await expectStopped()
  })

  it('over WebSocket', async () => {
    const socket = new WebSocket(t.wsUrl)
    await once(socket, 'open')
    const block = mined(t.node)
    socket.send(TEXT)
    await block
    socket.terminate()
    await expectStopped()
  })

  it('over IPC', async () => {
    const socket: Socket = connect(path)
    await once(socket, 'connect')
    const block = mined(t.node)
    socket.write(TEXT)
    await block
    socket.destroy()
    await expectStopped()
  })

  it('in process, by its signal; the error has the number of blocks mined', async () => {
    const abort = new AbortController()
    const block = mined(t.node)
    const call = t.node.request({ method: 'hardhat_mine', params: [MANY], signal: abort.signal })
    await block
    abort.abort()
    await expect(call).rejects.toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^The call was cancelled: \d+ of 10000 blocks were mined\.$/),
    })
    await expectStopped()
  })

  it('while the call is queued', async () => {
    const abort = new AbortController()
    const block = mined(t.node)
    const mining = t.node.request({ method: 'hardhat_mine', params: [MANY], signal: abort.signal })
    await block
    const other = new AbortController()
    const waiting = t.node.request({ method: 'evm_increaseTime', params: [1000], signal: other.signal })
    other.abort()
    await expect(waiting).rejects.toThrow(saying('The call was cancelled: it was not carried out.'))
    abort.abort()
    await expect(mining).rejects.toThrow(/^The call was cancelled: \d+ of 10000 blocks were mined\.$/)
    expect(t.node.engine.dev.modes().clock.offset).toBeLessThan(1000)
  })
})

describe('a peer over IPC that ends its side', () => {
  it('receives its answer', async () => {
    const socket = connect(path)
    await once(socket, 'connect')
    socket.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'hardhat_mine', params: [20] }))
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 1, result: true })
    expect(t.node.engine.queries.head().block.header.number).toBe(20)
  })
})

describe('other calls', () => {
  it('are answered while blocks are mined, and see the blocks mined so far', async () => {
    const block = mined(t.node)
    const sent = post()
    await block
    const first = Number(await t.call('eth_blockNumber'))
    await mined(t.node)
    expect(Number(await t.call('eth_blockNumber'))).toBeGreaterThan(first)
    sent.destroy()
    await expectStopped()
  })
})
