/** An HTTP proxy that counts the requests that pass, and the time until each is answered, by method. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'

/** The method of a message; `batch` for several. */
function methodOf(body) {
  try {
    const message = JSON.parse(body.toString())
    return Array.isArray(message) ? 'batch' : String(message.method)
  } catch {
    return 'no JSON'
  }
}

/**
 * Listens on a port and passes everything on to another port of this machine.
 * @returns {Promise<{ methods: Map<string, { requests: number, ms: number }>, close(): Promise<void> }>}
 */
export async function countingProxy(port, target) {
  const agent = new Agent({ keepAlive: true })
  const methods = new Map()
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray())
    const began = performance.now()
    const { method, url: path, headers } = incoming
    const call = request({ agent, host: '127.0.0.1', port: target, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers)
      answer.pipe(outgoing)
      answer.once('end', () => {
        const name = methodOf(body)
        const { requests, ms } = methods.get(name) ?? { requests: 0, ms: 0 }
        methods.set(name, { requests: requests + 1, ms: ms + performance.now() - began })
      })
    })
    call.on('error', () => outgoing.destroy())
    call.end(body)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    methods,
    async close() {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
