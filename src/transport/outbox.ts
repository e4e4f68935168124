/** Queues of notifications to sockets, batched so that a busy chain costs each socket one write instead of many. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type Notification, notificationText } from '../rpc/notification.ts'

/** Milliseconds of delivery after which the event loop runs other work. */
const SLICE_MS = 4
/** Pause after a slice, as a multiple of its length: delivery takes a fifth of the time at most. */
const PAUSE_FACTOR = 4
/** Notifications of one socket in one slice. */
const MAX_PER_SLICE = 256
/** Bytes of a message around its result. */
const ENVELOPE_BYTES = 120

/** Runs deliveries in the order in which they were added. */
export interface DeliveryQueue {
  /** A delivery that is queued already keeps its place. */
  add(deliver: () => void): void
  /** Drops deliveries that have not run. */
  close(): void
}

/**
 * Makes the queue of one server. The first delivery after a pause runs at once; the longer a round over all sockets
 * takes, the more notifications each socket gets in one write.
 */
export function createDeliveryQueue(): DeliveryQueue {
  const waiting = new Set<() => void>()
  let pausedUntil = Number.NEGATIVE_INFINITY
  let planned: NodeJS.Timeout | NodeJS.Immediate | undefined

  function plan(): void {
    const pause = pausedUntil - performance.now()
    planned = pause > 0 ? setTimeout(run, pause).unref() : setImmediate(run)
  }

  function run(): void {
    planned = undefined
    const start = performance.now()
    let now = start
    for (const deliver of waiting) {
      waiting.delete(deliver)
      deliver()
      now = performance.now()
      if (now - start > SLICE_MS) break
    }
    pausedUntil = now + (now - start) * PAUSE_FACTOR
    if (waiting.size > 0) plan()
  }

  return {
    add(deliver) {
      waiting.add(deliver)
      if (planned === undefined) plan()
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
  /** Sends what is queued. */
  flush(): void
}

/** What an outbox is made of. */
export interface OutboxParts {
  readonly socket: WebSocket
  /** The connection below the socket. */
  readonly stream: Duplex
  readonly deliveries: DeliveryQueue
  /** Bytes that may wait for the peer to read. */
  readonly maxBytes: number
  /** Are notifications to be held back for now? */
  readonly isHeld: () => boolean
  /** More than `maxBytes` wait: the peer does not read. Called once. */
  readonly onOverflow: () => void
}

function lengthOf({ event }: Notification): number {
  return event.json.length + ENVELOPE_BYTES
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

  function send(most: number): void {
    if (gathered.length === 0) return
    const now = gathered.slice(0, most)
    gathered = gathered.slice(most)
    if (socket.readyState !== socket.OPEN) return
    stream.cork()
    for (const notification of now) {
      bytes -= lengthOf(notification)
      socket.send(notificationText(notification))
    }
    stream.uncork()
  }

  function deliver(): void {
    if (isHeld()) return
    send(MAX_PER_SLICE)
    if (gathered.length > 0) deliveries.add(deliver)
  }

  return {
    push(notification) {
      if (overflowed || socket.readyState !== socket.OPEN) return
      if (bytes + socket.bufferedAmount > maxBytes) {
        overflowed = true
        gathered = []
        return onOverflow()
      }
      gathered.push(notification)
      bytes += lengthOf(notification)
      deliveries.add(deliver)
    },
    flush: () => send(gathered.length),
  }
}
