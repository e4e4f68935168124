/** A TCP connection without a protocol: what it sends, and every byte that comes back. */
import { connect } from 'node:net'

/** An open connection. */
export interface RawSocket {
  send(bytes: string | Uint8Array): void
  /** Resolves with all that came when that is so of it; rejects when the other end closes before. */
  until(isSo: (received: string) => boolean): Promise<string>
  /** Resolves when the last of what came has this in it; how many bytes came. */
  untilLast(words: string): Promise<number>
  /** Resolves when all that was sent has left the process. */
  drained(): Promise<void>
  /** Resolves with all that came when the other end has closed, in whichever way. */
  ended(): Promise<string>
  /** Closes its own half: sends no more, and still receives. */
  finish(): void
  /** Takes nothing more of what comes. */
  pause(): void
  resume(): void
  close(): void
}

/** Opens one to a port of this machine. */
export async function rawSocket(port: number): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  let bytes = 0
  let last = ''
  let closed = false
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
    last = (last + chunk.subarray(-200).toString('latin1')).slice(-200)
    tell()
  })
  const onEnd = () => {
    closed = true
    socket.end()
    tell()
  }
  // A reset is one way of hanging up.
  socket
    .on('error', () => {})
    .on('end', onEnd)
    .on('close', onEnd)
  await new Promise((resolve) => socket.once('connect', resolve))

  const received = () => Buffer.concat(chunks).toString('latin1')
  const when = (isSo: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!isSo() && !closed) return
        listeners.delete(look)
        if (isSo()) resolve()
        else reject(new Error(`closed after: ${received()}`))
      }
      listeners.add(look)
      look()
    })
  return {
    send: (bytes) => void socket.write(bytes),
    until: (isSo) => when(() => isSo(received())).then(received),
    untilLast: (words) => when(() => last.includes(words)).then(() => bytes),
    async drained() {
      if (socket.writableLength > 0) await new Promise((resolve) => socket.once('drain', resolve))
    },
    ended: () => when(() => closed).then(received),
    finish: () => void socket.end(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  }
}

/** Sends bytes on a connection of their own; all that came until the other end hung up. */
export async function connection(port: number, ...bytes: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = await rawSocket(port)
  for (const each of bytes) socket.send(each)
  return socket.ended()
}

/** The status lines of the HTTP responses in a text. */
export function statuses(text: string): number[] {
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
}
