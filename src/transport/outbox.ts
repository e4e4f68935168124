/** Queues of notifications to sockets, batched so that a busy chain costs each socket one write instead of many. */
import { type Notification, notificationText } from '../rpc/notification.ts'

/** Milliseconds of delivery after which the event loop runs other work. */
const SLICE_MS = 4
/** Pause after a slice, as a multiple of its length: delivery takes a fifth of the time at most. */
const PAUSE_FACTOR = 4
/** Notifications of one socket in one slice. */
const MAX_PER_SLICE = 256
/** Bytes of a message around its result. */
const ENVELOPE_BYTES = 120

/** Runs the deliveries of a server in the order in which they were added. */
export class DeliveryQueue {
  readonly #waiting = new Set<() => void>()
  #pausedUntil = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined

  /**
   * Adds a delivery; one that is queued already keeps its place. The first after a pause runs at once. The longer
   * a round over all sockets takes, the more notifications each socket gets in one write.
   */
  add(deliver: () => void): void {
    this.#waiting.add(deliver)
    if (this.#timer === undefined && this.#immediate === undefined) this.#plan()
  }

  /** Drops deliveries that have not run. */
  close(): void {
    this.#waiting.clear()
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
  }

  #plan(): void {
    const pause = this.#pausedUntil - performance.now()
    if (pause > 0) this.#timer = setTimeout(this.#run, pause).unref()
    else this.#immediate = setImmediate(this.#run)
  }

  readonly #run = (): void => {
    this.#timer = undefined
    this.#immediate = undefined
    const start = performance.now()
    let now = start
    for (const deliver of this.#waiting) {
      this.#waiting.delete(deliver)
      deliver()
      now = performance.now()
      if (now - start > SLICE_MS) break
    }
    this.#pausedUntil = now + (now - start) * PAUSE_FACTOR
    if (this.#waiting.size > 0) this.#plan()
  }
}

/** The socket that an outbox sends to. */
export interface OutboxPeer {
  readonly isOpen: boolean
  /** Bytes that were sent and not read. */
  readonly unreadBytes: number
  /** Are notifications to be held back for now? */
  readonly isHoldingBack: boolean
  /** Sends texts in one write where that can be. */
  sendAll(texts: readonly string[]): void
  /** More bytes wait than the limit: the peer does not read. Called once. */
  onOverflow(): void
}

function lengthOf({ event }: Notification): number {
  return event.json.length + ENVELOPE_BYTES
}

/** The notifications of one socket. */
export class Outbox {
  readonly #peer: OutboxPeer
  readonly #deliveries: DeliveryQueue
  readonly #maxBytes: number
  #waiting: Notification[] = []
  #bytes = 0
  #hasOverflowed = false

  /** @param maxBytes that may wait for the peer to read */
  constructor(peer: OutboxPeer, deliveries: DeliveryQueue, maxBytes: number) {
    this.#peer = peer
    this.#deliveries = deliveries
    this.#maxBytes = maxBytes
  }

  push(notification: Notification): void {
    if (this.#hasOverflowed || !this.#peer.isOpen) return
    if (this.#bytes + this.#peer.unreadBytes > this.#maxBytes) {
      this.#hasOverflowed = true
      this.#waiting = []
      return void this.#peer.onOverflow()
    }
    this.#waiting.push(notification)
    this.#bytes += lengthOf(notification)
    this.#deliveries.add(this.#deliver)
  }

  /** Sends what is queued. */
  flush(): void {
    this.#send(this.#waiting.length)
  }

  readonly #deliver = (): void => {
    if (this.#peer.isHoldingBack) return
    this.#send(MAX_PER_SLICE)
    if (this.#waiting.length > 0) this.#deliveries.add(this.#deliver)
  }

  #send(most: number): void {
    if (this.#waiting.length === 0) return
    const now = this.#waiting.slice(0, most)
    this.#waiting = this.#waiting.slice(most)
    for (const notification of now) this.#bytes -= lengthOf(notification)
    if (this.#peer.isOpen) this.#peer.sendAll(now.map(notificationText))
  }
}
