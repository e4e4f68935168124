/** JSON-RPC clients that keep their connections: over HTTP, and over WebSockets, 16 of them at most. */
import { Agent, request } from 'node:http'
import { WebSocket } from 'ws'

/** Connections that a client opens at most; rows with parallel requests use all of them. */
export const CONNECTIONS = 16

/** An error that the node answered. */
export class RpcFailure extends Error {}

function resultOf(method, reply) {
  if (reply.error) throw new RpcFailure(`${method}: ${reply.error.message}`)
  return reply.result
}

/**
 * A client over HTTP.
 * @param {number} port of a node on this machine
 */
export function createClient(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  let id = 0

  /** @returns {Promise<Buffer[]>} the body in pieces */
  function post(body) {
    const text = JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const call = request(
        {
          agent,
          host: '127.0.0.1',
          port,
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
        },
        (response) => {
          const chunks = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('end', () => resolve(chunks))
          response.on('error', reject)
        },
      )
      call.on('error', (error) => {
        // Servers close connections that were idle for some seconds, maybe just as one is used again.
        if (call.reusedSocket && error.code === 'ECONNRESET') resolve(post(body))
        else reject(error)
      })
      call.end(text)
    })
  }

  return {
    /** Calls a method; throws what the node answers as an error. */
    async call(method, params = []) {
      const chunks = await post({ jsonrpc: '2.0', id: ++id, method, params })
      return resultOf(method, JSON.parse(Buffer.concat(chunks).toString()))
    },
    /** Bytes of the reply to a call whose result may be longer than any text. */
    async size(method, params) {
      const chunks = await post({ jsonrpc: '2.0', id: ++id, method, params })
      const head = String(chunks[0]).slice(0, 300)
      if (head.includes('"error":{')) throw new RpcFailure(`${method}: ${head}`)
      return chunks.reduce((sum, { length }) => sum + length, 0)
    },
    close() {
      agent.destroy()
    },
  }
}

function openSocket(port) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
    const waiting = new Map()
    socket.once('error', reject)
    socket.once('open', () => resolve({ socket, waiting }))
    socket.on('message', (text) => {
      const reply = JSON.parse(String(text))
      const { method, done, failed } = waiting.get(reply.id)
      waiting.delete(reply.id)
      try {
        done(resultOf(method, reply))
      } catch (error) {
        failed(error)
      }
    })
  })
}

/**
 * A client over WebSockets that hands its calls to its connections one after another.
 * @param {number} port of a node on this machine
 */
export function createSocketClient(port) {
  const sockets = []
  let opening
  let id = 0
  return {
    /** Calls a method; throws what the node answers as an error. */
    async call(method, params = []) {
      opening ??= Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(port)))
      if (sockets.length === 0) {
        try {
          sockets.push(...(await opening))
        } catch (error) {
          opening = undefined
          throw error
        }
      }
      const number = ++id
      const { socket, waiting } = sockets[number % CONNECTIONS]
      return new Promise((done, failed) => {
        waiting.set(number, { method, done, failed })
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: number, method, params }))
      })
    },
    close() {
      for (const { socket } of sockets) socket.close()
    },
  }
}
