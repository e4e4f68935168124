/** What an adapter makes of streams that no editor sends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NodeDebugSession } from '../../src/cli/dap/adapter.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { serve } from '../../src/index.ts'
import { DebuggerCase } from '../support/debugger-cases.ts'

let of: DebuggerCase
let address: Hex
let served: Awaited<ReturnType<typeof serve>>
let adapter: Server
/** Stands before the node, and tells what it is called for. */
let proxy: HttpServer
let proxyUrl: string
beforeAll(async () => {
  of = await DebuggerCase.open('Old-0.8.35')
  ;({ address } = await of.deploy(5, `0x${'12'.repeat(32)}`))
  served = await serve(of.node, { port: 0 })
  adapter = createServer((socket) => {
    const session = new NodeDebugSession()
    session.setRunAsServer(true)
    socket.on('error', () => socket.destroy())
    session.start(socket, socket)
  })
  await new Promise<void>((resolve) => adapter.listen(0, '127.0.0.1', () => resolve()))
  proxy = createHttpServer(async (request, response) => {
    const body = await text(request)
    proxy.emit('called', body)
    const headers = { 'Content-Type': 'application/json' }
    response.end(await (await fetch(served.url, { method: 'POST', headers, body })).text())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', () => resolve()))
  proxyUrl = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
})
afterAll(async () => {
  adapter.close()
  proxy.close()
  await served.close()
  await of.node.close()
})

interface Answer {
  readonly type: string
  readonly command?: string
  readonly success?: boolean
  readonly message?: string
}

/** An editor's end of a connection. */
class Editor {
  readonly socket: Socket
  readonly closed: Promise<void>
  readonly answers: Answer[] = []
  #text = ''
  #waiting: (() => void)[] = []

  constructor() {
    this.socket = connect((adapter.address() as { port: number }).port, '127.0.0.1')
    this.socket.setEncoding('latin1').on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()))
    this.socket.on('data', (chunk) => {
      this.#text += String(chunk)
      this.#read()
      for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  send(...messages: readonly object[]): void {
    for (const message of messages) {
      const json = JSON.stringify(message)
      this.socket.write(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`)
    }
  }

  request(command: string, given?: unknown): void {
    this.send({ seq: 1, type: 'request', command, ...(given !== undefined && { arguments: given }) })
  }

  /** Reads the messages that have arrived whole. */
  #read(): void {
    for (;;) {
      const found = /^Content-Length: (\d+)\r\n\r\n/.exec(this.#text)
      const start = found?.[0].length ?? 0
      const end = start + Number(found?.[1] ?? 0)
      if (found === null || this.#text.length < end) return
      this.answers.push(JSON.parse(this.#text.slice(start, end)))
      this.#text = this.#text.slice(end)
    }
  }

  /** Waits for a number of responses to a command. */
  async responses(command: string, count = 1): Promise<Answer[]> {
    for (;;) {
      const found = this.answers.filter((one) => one.type === 'response' && one.command === command)
      if (found.length >= count) return found
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }
}

let editor: Editor
beforeEach(() => {
  editor = new Editor()
})
afterEach(() => editor.socket.destroy())

describe('tandem dap and a stream that no editor sends', () => {
  it.each(['continue', 'reverseContinue', 'next', 'stepIn', 'stepOut', 'stepBack'])(
    'refuses %s before anything is debugged',
    async (command) => {
      editor.request(command, {})
      const [answer] = await editor.responses(command)
      expect(answer).toMatchObject({ success: false, message: 'nothing is being debugged' })
      editor.request('threads')
      expect(await editor.responses('threads')).toMatchObject([{ success: true }])
    },
  )

  it.each([
    ['stackTrace', { startFrame: 'x' }, 'stackTrace: startFrame: '],
    ['variables', undefined, 'variables: variablesReference: '],
    ['scopes', [], 'scopes: arguments: '],
    ['evaluate', { frameId: 0 }, 'evaluate: expression: '],
    ['setBreakpoints', {}, 'setBreakpoints: source: '],
    ['setExceptionBreakpoints', undefined, 'setExceptionBreakpoints: filters: '],
    ['source', { sourceReference: -1 }, 'source: sourceReference: '],
  ])('names what is wrong with the arguments of %s', async (command, given, message) => {
    editor.request(command, given)
    const [answer] = await editor.responses(command)
    expect(answer?.success).toBe(false)
    expect(answer?.message).toContain(message)
    expect(answer?.message).not.toMatch(/ at |TypeError/)
  })

  it.each([
    ['a post of a web page', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
    ['a length beyond all messages', 'Content-Length: 99999999\r\n\r\n'],
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['no length', 'Content-Type: text\r\n\r\n'],
    ['headers without an end', 'x'.repeat(5000)],
  ])('closes the connection at %s', async (_, sent) => {
    editor.socket.write(sent)
    await editor.closed
    expect(editor.answers).toEqual([])
  })

  it('reads messages in pieces of any length', async () => {
    const json = JSON.stringify({ seq: 1, type: 'request', command: 'threads' })
    const sent = `Content-Length: ${json.length}\r\n\r\n${json}`.repeat(3)
    editor.socket.setNoDelay(true)
    for (const letter of sent) await new Promise((resolve) => editor.socket.write(letter, resolve))
    expect(await editor.responses('threads', 3)).toHaveLength(3)
  })

  it('answers thousands of requests in one piece', async () => {
    for (let seq = 0; seq < 5000; seq++) editor.request('next', {})
    expect(await editor.responses('next', 5000)).toHaveLength(5000)
  })

  it('ends the session of the node when the editor goes away', async () => {
    const transaction = await of.call(address, 'fail', 9)
    const closed = new Promise<string>((resolve) => {
      proxy.on('called', (body: string) => {
        if (body.includes('evm_debugClose')) resolve(body)
      })
    })
    editor.request('launch', { url: proxyUrl, transaction })
    expect(await editor.responses('launch')).toMatchObject([{ success: true }])
    editor.socket.destroy()
    expect(await closed).toContain('evm_debugClose')
  })

  it('shows nothing of a file that is no simulation', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-dap-'))
    const path = join(folder, 'secret')
    writeFileSync(path, 'swordfish')
    editor.request('launch', { url: served.url, simulation: path })
    const [answer] = await editor.responses('launch')
    rmSync(folder, { recursive: true })
    expect(answer?.message).toContain('cannot be read: it is not JSON')
    expect(answer?.message).not.toContain('sword')
  })
})
