/** A JSON-RPC client over one kept connection, so that only the node's own time is measured. */
import { Agent, request } from 'node:http'

export class RpcFailure extends Error {}

/** @param {number} port */
export function createClient(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  let id = 0

  /** @returns {Promise<any>} the parsed body */
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
          response.on('end', () => {
            try {
              resolve(JSON.parse(Buffer.concat(chunks).toString()))
            } catch (error) {
              reject(error)
            }
          })
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
      const reply = await post({ jsonrpc: '2.0', id: ++id, method, params })
      if (reply.error) throw new RpcFailure(`${method}: ${reply.error.message}`)
      return reply.result
    },
    close() {
      agent.destroy()
    },
  }
}
