/** A served node with API keys for the tests of authentication, and callers of it. */
import { once } from 'node:events'
import { afterEach, beforeEach } from 'vitest'
import { WebSocket } from 'ws'
import type { CallOrigin, ServeOptions } from '../../../src/options/options.ts'
import { type KeyFileOfTest, keyFile } from '../../support/api-keys.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'

/** The answer to every request without a valid key. */
export const UNAUTHORIZED = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32001, message: 'API key missing or not valid' },
}

/** The key file of the running test. */
export let keys: KeyFileOfTest
/** The node of the running test, once it is started. */
export let node: ServedNode
/** All log lines of the node, and the listener for the next ones. */
export let lines: string[]
let onLine: (line: string) => void
/** The callers of all answered calls. */
export let origins: CallOrigin[]

export async function start(options: ServeOptions = {}): Promise<void> {
  const write = (message: string, fields?: Record<string, unknown>) => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`)
    onLine(message)
  }
  const logger = { debug: write, info: write, warn: write, error: write }
  node = await servedNode(
    { logger, onCall: (_method, _ms, _error, origin) => origins.push(origin) },
    { apiKeys: keys.file, ...options },
  )
}

/** Resolves with the next log line that matches. */
export function line(pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    onLine = (message) => {
      if (pattern.test(message)) resolve(message)
    }
  })
}

export function call(key: string, method = 'eth_chainId', ...params: unknown[]) {
  return node.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), {}, `/${key}`)
}

export async function open(path: string): Promise<WebSocket> {
  const socket = new WebSocket(node.wsUrl + path)
  await once(socket, 'open')
  return socket
}

export async function answerTo(socket: WebSocket, message: unknown) {
  socket.send(JSON.stringify(message))
  const [data] = await once(socket, 'message')
  return JSON.parse(String(data))
}

export async function refusedUpgrade(path: string) {
  const socket = new WebSocket(node.wsUrl + path)
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, body: JSON.parse(text), again: response.headers['retry-after'] }
}

/** Makes a key file before each test, and removes it and closes the node after it. */
export function useGuardedNode(): void {
  beforeEach(() => {
    keys = keyFile()
    lines = []
    origins = []
    onLine = () => {}
  })
  afterEach(async () => {
    await node.close()
    keys.remove()
  })
}
