/**
 * A connection that carries messages both ways, WebSocket or IPC: one connection is one session. Its messages wait in
 * order and are answered one after another; notifications are held back while a message is being answered.
 */
import type { Disturbance } from '../chaos/model.ts'
import type { Logger } from '../logger.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { PACKED } from './byte-budget.ts'
import { type DeliveryQueue, Outbox } from './outbox.ts'
import type { Policy } from './policy.ts'
import { dispatchLong, type LongReply, type TextDispatcher } from './text-dispatcher.ts'

/** Messages that may wait behind the running one before reading pauses. */
const MAX_WAITING = 64
/** Characters of waiting messages before reading pauses. */
const MAX_WAITING_LENGTH = 1_048_576

/** The part of a session that its connection knows from the start. */
export type Caller = Pick<Session, 'label'> & Partial<Session>

/** What a connection of messages is served by. */
export interface MessageConnectionParts {
  readonly caller: Caller
  readonly dispatcher: TextDispatcher
  readonly deliveries: DeliveryQueue
  readonly policy: Policy
  /** Bytes of notifications that may wait for a peer that does not read. */
  readonly maxBufferBytes: number
  readonly logger: Logger
}

/** What both kinds have in common. */
export abstract class MessageConnection {
  readonly dispatcher: TextDispatcher
  protected readonly policy: Policy
  protected readonly logger: Logger
  protected readonly label: string
  protected readonly maxBufferBytes: number
  readonly #session: Session
  readonly #outbox: Outbox
  readonly #waiting: string[] = []
  #waitingLength = 0
  readonly #closeListeners: (() => void)[] = []
  #isBusy = false
  #isFinishing = false
  #running: Promise<void> = Promise.resolve()

  constructor({ caller, dispatcher, deliveries, policy, maxBufferBytes, logger }: MessageConnectionParts) {
    this.dispatcher = dispatcher
    this.policy = policy
    this.logger = logger
    this.label = caller.label
    this.maxBufferBytes = maxBufferBytes
    this.#outbox = new Outbox(this, deliveries, maxBufferBytes)
    this.#session = {
      ...openSession(caller.label),
      ...caller,
      isGone: () => !this.isOpen,
      notify: (notification) => this.#outbox.push(notification),
      onClose: (listener) => {
        if (this.isOpen) this.#closeListeners.push(listener)
        else listener()
      },
    }
  }

  /** Can the peer be sent to? */
  abstract get isOpen(): boolean
  /** Bytes that were sent and not read. */
  abstract get unreadBytes(): number
  protected abstract get isPaused(): boolean
  /** Stops reading from the peer. */
  protected abstract pause(): void
  protected abstract resume(): void
  /** Sends one reply; a promise where it has to wait for the peer to read. */
  protected abstract sendReply(text: string): Promise<void> | undefined
  /** Sends a part of a reply. */
  protected abstract sendPiece(piece: Uint8Array, isLast: boolean): Promise<void>
  abstract sendAll(texts: readonly string[]): void
  /** Closes the connection of a peer that does not read its notifications. */
  abstract onOverflow(): void
  /** Closes the connection after an internal error. */
  protected abstract fail(): void
  /** Destroys the connection. */
  abstract terminate(): void
  /** Called when all messages that have arrived are answered. */
  protected onIdle(): void {}

  /** True while a message is being answered: a subscriber receives the subscription's ID before its first notification. */
  get isHoldingBack(): boolean {
    return this.#isBusy
  }

  /** Answers no further messages; resolves when the running one is answered. */
  async finish(): Promise<void> {
    this.#isFinishing = true
    await this.#running
    this.#outbox.flush()
  }

  /** Takes a message of the peer. */
  protected receive(text: string): void {
    if (this.#isFinishing) return
    this.#waiting.push(text)
    this.#waitingLength += text.length
    if (this.#waiting.length >= MAX_WAITING || this.#waitingLength >= MAX_WAITING_LENGTH) this.pause()
    if (!this.#isBusy) this.#running = this.#run()
  }

  /** Drops waiting messages and ends subscriptions: the caller has disconnected or is being closed. */
  protected leave(): void {
    this.#waiting.length = 0
    this.#waitingLength = 0
    for (const listener of this.#closeListeners.splice(0)) listener()
  }

  /** Waits until the peer has read what was sent; disconnects one that reads nothing for the transfer timeout. */
  protected async drained(bytes: number, read: Promise<unknown>): Promise<void> {
    const { budget, transferTimeoutMs } = this.policy
    budget.take(bytes)
    // What is unread decreases by whole writes: a large reply has at least two intervals.
    let unread = Number.POSITIVE_INFINITY
    const timer = setInterval(() => {
      if (this.unreadBytes >= unread) this.terminate()
      unread = this.unreadBytes
    }, transferTimeoutMs)
    await read
    clearInterval(timer)
    budget.give(bytes)
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    try {
      for (let text = this.#next(); text !== undefined; text = this.#next()) {
        this.#outbox.flush()
        const disturbance = this.dispatcher.chaos?.current?.message(text, this.#session)
        const settled =
          disturbance === undefined
            ? dispatchLong(this.dispatcher, text, this.#session)
            : this.#disturbed(text, disturbance)
        // An answer that is there already is sent without `await`, which costs as much as a small call.
        const answer = settled instanceof Promise ? await settled : settled
        const sent = answer === undefined || !this.isOpen ? undefined : this.#reply(answer)
        if (sent !== undefined) await sent
        this.#outbox.flush()
        const hasRoom = this.#waiting.length < MAX_WAITING / 2 && this.#waitingLength < MAX_WAITING_LENGTH
        if (this.isPaused && hasRoom) this.resume()
      }
    } catch (error) {
      this.logger.error('a message failed outside its method', { error, session: this.label })
      this.fail()
    } finally {
      this.#isBusy = false
      this.#outbox.flush()
      this.onIdle()
    }
  }

  /** The answer to a message under chaos; the code for it is loaded with the first one. */
  async #disturbed(text: string, disturbance: Disturbance): Promise<string | LongReply | undefined> {
    const { disturbedAnswer } = await import('./disturbed-answer.ts')
    const answer = () => dispatchLong(this.dispatcher, text, this.#session)
    return disturbedAnswer(disturbance, answer, () => this.terminate())
  }

  #next(): string | undefined {
    if (!this.isOpen || this.#isFinishing) return undefined
    const text = this.#waiting.shift()
    this.#waitingLength -= text?.length ?? 0
    return text
  }

  #reply(answer: string | LongReply): Promise<void> | undefined {
    return typeof answer === 'string' ? this.sendReply(answer) : this.#replyInPieces(answer)
  }

  async #replyInPieces(long: LongReply): Promise<void> {
    const { budget } = this.policy
    const held = Math.ceil(long.length / PACKED)
    budget.take(held)
    let left = long.length
    for (const piece of long.pieces()) {
      if (!this.isOpen) break
      left -= piece.length
      await this.sendPiece(piece, left === 0)
    }
    budget.give(held)
  }
}
