/** An HTTP proxy that passes each request on after a fixed time, and counts them: a node far away. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Listens on a port of its own; `delayMs` is added to each request. */
export async function delayingProxy(target, delayMs) {
  const agent = new Agent({ keepAlive: true })
  let requests = 0
  const server = createServer(async (incoming, outgoing) => {
    requests++
    const [body] = await Promise.all([incoming.toArray(), delay(delayMs)])
    const headers = { 'Content-Type': 'application/json' }
    const call = request(target, { agent, method: 'POST', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, { 'Content-Type': 'application/json' })
      answer.pipe(outgoing)
    })
    call.on('error', () => outgoing.destroy())
    call.end(Buffer.concat(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests: () => requests,
    async close() {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
