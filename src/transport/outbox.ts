/** Notifications on their way to sockets: gathered for a moment, so that a busy chain costs each socket one write, not many. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type Notification, notificationText } from '../rpc/notification.ts'

/** Milliseconds of delivering after which everything else has a turn. */
const SLICE_MS = 4
/** Times as long as it delivered a door then rests, so that delivering takes a fifth of the time at most. */
const REST_FACTOR = 4
/** Notifications of one socket in one turn. */
const MOST_AT_ONCE = 256
/** What a message is longer than its news, in bytes. */
const ENVELOPE_BYTES = 120

/** Runs what is waiting, in the order in which it came. */
export interface Deliveries {
  /** One that waits already keeps its place. */
  add(deliver: () => void): void
  /** Those added and not yet run are forgotten. */
  close(): void
}

/**
 * Makes the deliveries of a door. The first after a rest goes at once; the longer a round over all sockets takes, the more
 * each of them gets in one write.
 */
export function createDeliveries(): Deliveries {
  const waiting = new Set<() => void>()
  let restUntil = Number.NEGATIVE_INFINITY
  let planned: NodeJS.Timeout | NodeJS.Immediate | undefined

  function plan(): void {
    const rest = restUntil - performance.now()
    planned = rest > 0 ? setTimeout(run, rest).unref() : setImmediate(run)
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
    restUntil = now + (now - start) * REST_FACTOR
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

function lengthOf({ news }: Notification): number {
  return news.json.length + ENVELOPE_BYTES
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
    const now = gathered.slice(0, most)
    gathered = gathered.slice(most)
    if (now.length === 0 || socket.readyState !== socket.OPEN) return
    stream.cork()
    for (const notification of now) {
      bytes -= lengthOf(notification)
      socket.send(notificationText(notification))
    }
    stream.uncork()
  }

  function deliver(): void {
    if (isHeld()) return
    send(MOST_AT_ONCE)
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
