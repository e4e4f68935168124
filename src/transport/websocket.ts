/** WebSocket: one socket is one session; its messages are answered one after another, in order. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import type { Logger } from '../logger.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { asciiFrame } from './ascii-frame.ts'
import { PACKED, SMALL_BYTES } from './byte-budget.ts'
import { countIncomingBytes } from './incoming-bytes.ts'
import { requestIdOf } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import { createDeliveryQueue, createOutbox, type DeliveryQueue } from './outbox.ts'
import type { Policy } from './policy.ts'
import { dispatchLong, type LongReply, type TextDispatcher } from './text-dispatcher.ts'

/** What the WebSocket listener is made of. */
export interface WebSocketParts {
  readonly policy: Policy
  /** Bytes that may wait for a peer that does not read. */
  readonly maxBufferBytes: number
  /** Milliseconds between pings; a peer that has not answered one by the next is disconnected. */
  readonly pingIntervalMs: number
  readonly logger: Logger
}

/** All sockets of a server. */
export interface WebSocketListener {
  /** Takes over a connection whose upgrade request was accepted; `client` holds its key where keys are in use. */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    dispatcher: TextDispatcher,
    client?: ApiKeyClient,
  ): void
  /** Closes the sockets of a dispatcher that ends (1001). */
  disconnectFrom(dispatcher: TextDispatcher): void
  /** Closes the sockets of callers whose address is banned now (1008). */
  disconnectBanned(isBanned: (address: string) => boolean): void
  /** How many are open. */
  count(): number
  /** Lets running messages end, then closes every socket (1001). */
  close(): Promise<void>
  /** Destroys the sockets that are still open. */
  terminate(): void
}

/** Messages that may wait behind the running one before the socket is paused. */
const MAX_WAITING = 64
/** Characters of waiting messages before the socket is paused. */
const MAX_WAITING_LENGTH = 1_048_576
/** Bytes that the peer has not read: from here on replies wait until it has. */
const SLOW_BYTES = 1_048_576

/** Close codes of RFC 6455. */
const GOING_AWAY = 1001
const UNSUPPORTED_DATA = 1003
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011
const TRY_AGAIN_LATER = 1013

/** One socket with its queue of messages. */
interface Connection {
  /** Settles when the running message is answered. */
  finish(): Promise<void>
  isAlive(): boolean
  readonly socket: WebSocket
  /** The caller's address. */
  readonly remote: string
  readonly dispatcher: TextDispatcher
}

/** The part of a session that is known before the first message. */
type Caller = Pick<Session, 'label' | 'remote' | 'requestId' | 'userAgent'> &
  Partial<ReturnType<typeof sessionOf>>

function connect(
  socket: WebSocket,
  stream: Duplex,
  caller: Caller,
  deliveries: DeliveryQueue,
  dispatcher: TextDispatcher,
  { policy, maxBufferBytes, logger }: WebSocketParts,
): Connection {
  const { budget, transferTimeoutMs, entitlements } = policy
  const { label } = caller
  const waiting: string[] = []
  let waitingLength = 0
  const listeners: (() => void)[] = []
  let busy = false
  let running: Promise<void> = Promise.resolve()
  let finishing = false
  let answeredPing = true

  const isOpen = () => socket.readyState === WebSocket.OPEN

  /** Forgets waiting messages and ends subscriptions: the caller has gone or is being closed. */
  function leave(): void {
    waiting.length = 0
    waitingLength = 0
    for (const listener of listeners.splice(0)) listener()
  }

  const outbox = createOutbox({
    socket,
    stream,
    deliveries,
    maxBytes: maxBufferBytes,
    // Held until a running message is answered, so that a subscriber receives the subscription's ID first.
    isHeld: () => busy,
    onOverflow() {
      logger.warn('a WebSocket client does not read its notifications; it is closed', { session: label })
      leave()
      socket.close(TRY_AGAIN_LATER, `Too slow: more than ${maxBufferBytes} bytes of notifications are unread`)
    },
  })

  const session: Session = {
    ...openSession(caller.label),
    entitlements,
    ...caller,
    isGone: () => !isOpen(),
    notify: outbox.push,
    onClose(listener) {
      if (!isOpen()) listener()
      else listeners.push(listener)
    },
  }

  /** The budget has no room for what this peer sends or should receive: closes it and frees what it holds. */
  function onSpent(): void {
    socket.close(TRY_AGAIN_LATER, 'The node is busy')
    socket.terminate()
  }
  countIncomingBytes(socket, stream, budget, onSpent)

  /** Sends and waits until the peer has read it; disconnects one that reads nothing for the transfer timeout. */
  async function sendAndDrain(data: string | Uint8Array, fin = true): Promise<void> {
    if (budget.isSpent) return onSpent()
    budget.take(data.length)
    let unread = Number.POSITIVE_INFINITY
    const timer = setInterval(() => {
      if (socket.bufferedAmount >= unread) socket.terminate()
      unread = socket.bufferedAmount
    }, transferTimeoutMs)
    await new Promise<void>((resolve) => socket.send(data, { binary: false, fin }, () => resolve()))
    clearInterval(timer)
    budget.give(data.length)
  }

  const canSendAtOnce = ({ length }: string): boolean =>
    length <= SMALL_BYTES && socket.bufferedAmount < SLOW_BYTES

  /** One message of at most `SMALL_BYTES`. ws writes its header and its text on their own. */
  function sendShort(text: string): void {
    const frame = asciiFrame(text)
    if (frame === undefined) socket.send(text)
    else stream.write(frame, 'latin1')
  }

  /** One message in several frames. */
  async function replyInPieces(long: LongReply): Promise<void> {
    const held = Math.ceil(long.length / PACKED)
    budget.take(held)
    let left = long.length
    for (const piece of long.pieces()) {
      if (!isOpen()) break
      left -= piece.length
      await sendAndDrain(piece, left === 0)
    }
    budget.give(held)
  }

  async function run(): Promise<void> {
    busy = true
    try {
      for (let text = waiting.shift(); text !== undefined && isOpen() && !finishing; text = waiting.shift()) {
        waitingLength -= text.length
        outbox.flush()
        const settled = dispatchLong(dispatcher, text, session)
        const answer = settled instanceof Promise ? await settled : settled
        if (answer !== undefined && isOpen()) {
          if (typeof answer !== 'string') await replyInPieces(answer)
          else if (canSendAtOnce(answer)) sendShort(answer)
          else await sendAndDrain(answer)
        }
        outbox.flush()
        if (socket.isPaused && waiting.length < MAX_WAITING / 2 && waitingLength < MAX_WAITING_LENGTH)
          socket.resume()
      }
    } catch (error) {
      logger.error('a message failed outside its method', { error, session: label })
      socket.close(INTERNAL_ERROR, 'Internal server error')
    } finally {
      busy = false
      outbox.flush()
    }
  }

  socket.on('message', (data: RawData, isBinary: boolean) => {
    // Nobody answers a peer that is being closed; ws reads on for its close frame.
    if (!isOpen()) return
    if (isBinary) return socket.close(UNSUPPORTED_DATA, 'Only text messages are understood')
    // With its default binary type, ws passes one Buffer a message.
    const text = (data as Buffer).toString()
    waiting.push(text)
    waitingLength += text.length
    if (waiting.length >= MAX_WAITING || waitingLength >= MAX_WAITING_LENGTH) socket.pause()
    if (!busy) running = run()
  })
  // Pongs for a peer that does not read would pile up.
  socket.on('ping', (data) => {
    if (isOpen() && socket.bufferedAmount < SLOW_BYTES) socket.pong(data)
  })
  socket.on('pong', () => {
    answeredPing = true
  })
  // ws closes with the matching code by itself: 1009 too large, 1007 not UTF-8, 1002 not WebSocket.
  socket.on('error', (error) => logger.debug('a WebSocket failed', { error, session: label }))
  socket.on('close', leave)

  return {
    socket,
    remote: caller.remote ?? '',
    dispatcher,
    async finish() {
      finishing = true
      await running
      outbox.flush()
      // A paused socket would never receive the peer's close frame.
      socket.resume()
    },
    isAlive() {
      const alive = answeredPing || socket.isPaused
      answeredPing = false
      return alive
    },
  }
}

/** Makes the WebSocket listener. */
export function createWebSocketListener(parts: WebSocketParts): WebSocketListener {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: parts.policy.maxBodyBytes,
  })
  const connections = new Set<Connection>()
  const deliveries = createDeliveryQueue()
  let count = 0
  let closing = false

  const heartbeat = setInterval(() => {
    for (const { socket, isAlive } of connections) {
      if (isAlive()) socket.ping()
      else socket.terminate()
    }
  }, parts.pingIntervalMs)
  heartbeat.unref()

  return {
    accept(request, socket, head, dispatcher, client) {
      const caller = {
        label: `ws ${++count}`,
        remote: parts.policy.remoteAddressOf(request),
        requestId: requestIdOf(request.headers),
        userAgent: request.headers['user-agent'],
        ...(client !== undefined && sessionOf(client)),
      }
      server.handleUpgrade(request, socket, head, (opened) => {
        const connection = connect(opened, socket, caller, deliveries, dispatcher, parts)
        connections.add(connection)
        const stopWatching = client?.key.onEnd(() =>
          opened.close(POLICY_VIOLATION, 'API key not valid any more'),
        )
        opened.on('close', () => {
          connections.delete(connection)
          stopWatching?.()
        })
        if (closing) opened.close(GOING_AWAY, 'The node is closing')
      })
    },
    disconnectFrom(dispatcher) {
      for (const { socket, dispatcher: its } of connections) {
        if (its === dispatcher) socket.close(GOING_AWAY, 'The chain is dropped')
      }
    },
    disconnectBanned(isBanned) {
      for (const { socket, remote } of connections) {
        if (isBanned(remote)) socket.close(POLICY_VIOLATION, 'Address is banned')
      }
    },
    count: () => connections.size,
    async close() {
      closing = true
      clearInterval(heartbeat)
      await Promise.all(
        [...connections].map(({ socket, finish }) => {
          const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
          void finish().then(() => socket.close(GOING_AWAY, 'The node is closing'))
          return closed
        }),
      )
    },
    terminate() {
      deliveries.close()
      for (const { socket } of connections) socket.terminate()
    },
  }
}
