/** Notifications on their way to sockets: gathered for a moment, so that a busy chain costs each socket one write, not many. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type Notification, notificationText } from '../rpc/notification.ts'

/** Least milliseconds between two deliveries; the first after a rest goes at once. */
const GATHER_MS = 20
/** What a message is longer than its news, in bytes. */
const ENVELOPE_BYTES = 120

/** Runs what is waiting, all of it in one go. */
export interface Deliveries {
  add(deliver: () => void): void
  /** Those added and not yet run are forgotten. */
  close(): void
}

/** Makes the deliveries of a door. */
export function createDeliveries(): Deliveries {
  const waiting = new Set<() => void>()
  let last = Number.NEGATIVE_INFINITY
  let planned: NodeJS.Timeout | NodeJS.Immediate | undefined

  function run(): void {
    planned = undefined
    last = performance.now()
    const now = [...waiting]
    waiting.clear()
    for (const deliver of now) deliver()
  }

  return {
    add(deliver) {
      waiting.add(deliver)
      if (planned !== undefined) return
      const rest = last + GATHER_MS - performance.now()
      planned = rest > 0 ? setTimeout(run, rest).unref() : setImmediate(run)
    },
    close() {
      waiting.clear()
      clearTimeout(planned as NodeJS.Timeout)
      clearImmediate(planned as NodeJS.Immediate)
    },
  }
}

/** The notifications of one socket. */
export interface Outbox {
  push(notification: Notification): void
  /** Hands over to the socket what has gathered. */
  flush(): void
}

/** What an outbox is made of. */
export interface OutboxParts {
  readonly socket: WebSocket
  /** What the socket writes to. */
  readonly stream: Duplex
  readonly deliveries: Deliveries
  /** Bytes that may wait for the peer. */
  readonly maxBytes: number
  /** Must what gathers stay here for now? */
  readonly isHeld: () => boolean
  /** More waits than may: the peer does not read. Called once. */
  readonly onOverflow: () => void
}

/** Makes an outbox. */
export function createOutbox({
  socket,
  stream,
  deliveries,
  maxBytes,
  isHeld,
  onOverflow,
}: OutboxParts): Outbox {
  let gathered: Notification[] = []
  let bytes = 0
  let overflowed = false

  function flush(): void {
    if (gathered.length === 0) return
    const now = gathered
    gathered = []
    bytes = 0
    if (socket.readyState !== socket.OPEN) return
    stream.cork()
    for (const notification of now) socket.send(notificationText(notification))
    stream.uncork()
  }

  function deliver(): void {
    if (!isHeld()) flush()
  }

  return {
    push(notification) {
      if (overflowed || socket.readyState !== socket.OPEN) return
      gathered.push(notification)
      bytes += notification.news.json.length + ENVELOPE_BYTES
      if (bytes + socket.bufferedAmount <= maxBytes) return deliveries.add(deliver)
      overflowed = true
      gathered = []
      onOverflow()
    },
    flush,
  }
}
