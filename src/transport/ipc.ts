/**
 * JSON-RPC over a Unix socket: one connection is one session; its messages are JSON values one after another, as geth's
 * and Anvil's clients write them, and are answered in order, a line each. Keys do not apply: the socket is open to the
 * user who started the node.
 */
import { once } from 'node:events'
import { chmod, lstat, unlink } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { toErrorObject } from '../rpc/error-codes.ts'
import { type Notification, notificationText } from '../rpc/notification.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { PACKED, SMALL_BYTES } from './byte-budget.ts'
import { createJsonStream } from './json-stream.ts'
import { ListenError } from './listen.ts'
import type { Policy } from './policy.ts'
import { dispatchLong, type TextDispatcher } from './text-dispatcher.ts'

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

/** Messages that may wait behind the running one before the connection is paused. */
const MAX_WAITING = 64

/** A connection with its queue of messages. */
interface Connection {
  /** Ends after the running message. */
  finish(): void
  readonly socket: Socket
}

function converse(socket: Socket, label: string, parts: IpcParts): Connection {
  const { dispatcher, logger, maxBufferBytes } = parts
  const { budget, transferTimeoutMs, maxBodyBytes } = parts.policy
  const stream = createJsonStream(maxBodyBytes)
  const waiting: string[] = []
  const listeners: (() => void)[] = []
  let held: Notification[] = []
  let heldBytes = 0
  let busy = false
  let finishing = false
  /** The peer sends no more. */
  let ended = false
  /** Why the rest of the stream cannot be read: where its next message begins is not known. */
  let failure: NodeError | undefined
  /** Bytes of an incomplete message that are taken from the budget. */
  let counted = 0

  function count(bytes: number): void {
    const wanted = bytes > SMALL_BYTES ? bytes : 0
    if (wanted > counted) budget.take(wanted - counted)
    else budget.give(counted - wanted)
    counted = wanted
  }

  /** Writes, and waits for a peer that reads slowly; one that reads nothing for the timeout is disconnected. */
  async function write(data: string | Uint8Array): Promise<void> {
    if (!socket.writable || socket.write(data)) return
    budget.take(data.length)
    let unread = socket.writableLength
    const timer = setInterval(() => {
      if (socket.writableLength >= unread) socket.destroy()
      unread = socket.writableLength
    }, transferTimeoutMs)
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
    clearInterval(timer)
    budget.give(data.length)
  }

  function flush(): void {
    const now = held
    held = []
    heldBytes = 0
    for (const notification of now) if (socket.writable) socket.write(`${notificationText(notification)}\n`)
  }

  const session: Session = {
    ...openSession(label),
    isGone: () => socket.destroyed,
    // Held until a running message is answered, so that a subscriber receives the subscription's ID first.
    notify(notification) {
      if (heldBytes + socket.writableLength > maxBufferBytes) {
        logger.warn('an IPC client does not read its notifications; it is disconnected', { session: label })
        return void socket.destroy()
      }
      held.push(notification)
      heldBytes += notification.event.json.length
      if (!busy) flush()
    },
    onClose(listener) {
      if (socket.destroyed) listener()
      else listeners.push(listener)
    },
  }

  async function answer(text: string): Promise<void> {
    const reply = await dispatchLong(dispatcher, text, session)
    if (reply === undefined) return
    if (typeof reply === 'string') return write(`${reply}\n`)
    const bytes = Math.ceil(reply.length / PACKED)
    budget.take(bytes)
    for (const piece of reply.pieces()) await write(piece)
    budget.give(bytes)
    return write('\n')
  }

  async function run(): Promise<void> {
    busy = true
    try {
      for (let text = waiting.shift(); text !== undefined && !finishing; text = waiting.shift()) {
        await answer(text)
        flush()
        if (waiting.length < MAX_WAITING / 2) socket.resume()
      }
    } catch (error) {
      logger.error('a message failed outside its method', { error, session: label })
      socket.destroy()
    }
    busy = false
    if (finishing || ended || failure !== undefined) end()
  }

  /** Ends the connection once everything is written. */
  function end(): void {
    if (failure !== undefined && !finishing && socket.writable) {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: toErrorObject(failure) })}\n`)
    }
    socket.destroySoon()
  }

  function finish(): void {
    finishing = true
    if (!busy) end()
  }

  socket.on('data', (chunk) => {
    if (failure !== undefined || finishing) return
    const read = stream.push(chunk)
    waiting.push(...read.values)
    failure = read.failure
    count(failure === undefined ? stream.partial : 0)
    if (failure !== undefined && !busy && waiting.length === 0) return end()
    if (counted > 0 && budget.isSpent) return void socket.destroy()
    if (waiting.length >= MAX_WAITING) socket.pause()
    if (!busy && waiting.length > 0) void run()
  })
  // A peer may end its side and still read the answers.
  socket.on('end', () => {
    ended = true
    if (!busy) end()
    // White space in front of the answer: one that has closed both sides refuses it, and is gone.
    else if (socket.writable) socket.write(' ')
  })
  socket.on('error', (error) => logger.debug('an IPC connection failed', { error, session: label }))
  socket.once('close', () => {
    waiting.length = 0
    count(0)
    for (const listener of listeners.splice(0)) listener()
  })
  return { socket, finish }
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  // libuv also reports a missing folder so.
  EACCES: 'the folder is missing or cannot be written',
}

/** Bytes of a path that every system takes; Node.js cuts a longer one off without an error. */
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
  const connections = new Set<Connection>()
  let count = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = converse(socket, `ipc ${++count}`, parts)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  await bind(server, parts.path)
  server.on('error', (error) => parts.logger.error('the IPC server failed', { error }))
  return {
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const { finish } of connections) finish()
      return closed
    },
    terminate() {
      for (const { socket } of connections) socket.destroy()
    },
  }
}
