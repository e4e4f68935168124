/** A TCP proxy whose connections can be cut or held: a network that splits. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Starts a proxy of a port on this machine. */
export async function tcpProxy(target: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return client.destroy()
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `nats://127.0.0.1:${port}`,
    /** Closes all connections and accepts no more. */
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    /** Passes nothing on, in either direction, and leaves the connections open. */
    hold() {
      for (const socket of sockets) socket.pause()
    },
    heal() {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
