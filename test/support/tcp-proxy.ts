/** A TCP proxy whose connections can be cut, held or slowed down: a network that splits, or is narrow. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** Starts a proxy of a port on this machine. */
export async function tcpProxy(target: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  /** Bytes a second towards the clients. */
  let rate = Number.POSITIVE_INFINITY

  /** Lets each piece through after the time that it takes at the rate. */
  const narrow = () =>
    new Transform({
      transform(piece: Buffer, _, pass) {
        if (rate === Number.POSITIVE_INFINITY) pass(null, piece)
        else setTimeout(pass, (piece.length / rate) * 1_000, null, piece)
      },
    })

  const server = createServer((client) => {
    if (isCut) return client.destroy()
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      if (from === upstream) from.pipe(narrow()).pipe(to)
      else from.pipe(to)
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
    /** Passes so many bytes a second on to the clients; what is on its way keeps its time. */
    slowDown(bytesPerSecond: number) {
      rate = bytesPerSecond
    },
    heal() {
      isCut = false
      rate = Number.POSITIVE_INFINITY
      for (const socket of sockets) socket.resume()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
