/**
 * JSON-RPC over a Unix socket: one connection is one session; its messages are JSON values one after another, as geth's
 * and Anvil's clients write them, and are answered in order, a line each. Keys do not apply: the socket is open to the
 * user who started the node.
 */
import { chmod, lstat, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import type { Logger } from '../logger.ts'
import { IpcConnection } from './ipc-connection.ts'
import { ListenError } from './listen.ts'
import { DeliveryQueue } from './outbox.ts'
import type { Policy } from './policy.ts'
import type { TextDispatcher } from './text-dispatcher.ts'

/** What the socket is served by. */
export interface IpcParts {
  readonly dispatcher: TextDispatcher
  readonly path: string
  readonly policy: Policy
  /** Bytes of notifications that may wait for a peer that does not read. */
  readonly maxBufferBytes: number
  readonly logger: Logger
}

/** A listening socket. */
export interface IpcServer {
  /** Accepts no more connections, lets running messages end, and closes; the file is removed. */
  close(): Promise<void>
  /** Destroys the connections that are still open. */
  terminate(): void
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  // libuv also reports a missing folder so.
  EACCES: 'the folder is missing or cannot be written',
}

/** Longest path in bytes that every system accepts; Node.js truncates a longer one without an error. */
const LONGEST_PATH = 103

/** Removes the socket of a process that has died. Throws `ListenError` for one in use and for a file of another kind. */
async function claim(path: string): Promise<void> {
  const length = Buffer.byteLength(path)
  if (length > LONGEST_PATH) {
    throw new ListenError(
      `Cannot listen on ${path}: a socket's path has at most ${LONGEST_PATH} bytes, and this has ${length}.`,
    )
  }
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new ListenError(`Cannot listen on ${path}: there is a file of another kind at this path.`)
  }
  const isInUse = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false))
    probe.once('connect', () => probe.destroy())
  })
  if (isInUse) throw new ListenError(`Cannot listen on ${path}: another process serves this socket.`)
  await unlink(path)
}

async function bind(server: Server, path: string): Promise<void> {
  await claim(path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = LISTEN_FAILURES[error.code ?? ''] ?? error.message
      reject(new ListenError(`Cannot listen on ${path}: ${why}.`))
    })
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
}

/** Listens on a path. Throws `ListenError`. */
export async function serveIpc(parts: IpcParts): Promise<IpcServer> {
  const { logger } = parts
  const connections = new Set<IpcConnection>()
  const deliveries = new DeliveryQueue()
  let count = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = new IpcConnection(socket, {
      ...parts,
      caller: { label: `ipc ${++count}` },
      deliveries,
    })
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  await bind(server, parts.path)
  server.on('error', (error) => logger.error('the IPC server failed', { error }))
  return {
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) void connection.finish()
      return closed
    },
    terminate() {
      deliveries.close()
      for (const connection of connections) connection.terminate()
    },
  }
}
