/** A JSON-RPC client over one kept connection, so that only the node's own time is measured. */
import { Agent, request } from 'node:http'

export class RpcFailure extends Error {}

/** @param {number} port */
export function createClient(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  let id = 0

  /** @returns {Promise<Buffer[]>} the body in pieces */
  function post(body) {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(body)
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
      call.on('error', reject)
      call.end(text)
    })
  }

  return {
    /** Calls a method; throws what the node answers as an error. */
    async call(method, params = []) {
      const reply = JSON.parse(
        Buffer.concat(await post({ jsonrpc: '2.0', id: ++id, method, params })).toString(),
      )
      if (reply.error) throw new RpcFailure(`${method}: ${reply.error.message}`)
      return reply.result
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
