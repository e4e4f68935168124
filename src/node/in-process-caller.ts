/** The caller of a node in its own process: a session that is notified through listeners. */
import type { Logger } from '../logger.ts'
import type { Notification } from '../rpc/notification.ts'
import { openSession, type Session } from '../rpc/session.ts'

/** A notification: EIP-1193's `message` event. */
export interface ProviderMessage {
  readonly type: string
  readonly data: unknown
}

type Listener = (message: ProviderMessage) => void

/** One for all callers in process, from the start of a node to its end. */
export class InProcessCaller {
  readonly session: Session
  readonly #logger: Logger
  readonly #listeners = new Set<Listener>()
  readonly #onClose: (() => void)[] = []

  constructor(logger: Logger) {
    this.#logger = logger
    this.session = {
      ...openSession('in process'),
      explains: true,
      notify: (notification) => this.#notify(notification),
      onClose: (listener) => {
        this.#onClose.push(listener)
      },
    }
  }

  add(listener: Listener): void {
    this.#listeners.add(listener)
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener)
  }

  /** Ends what the session holds: its subscriptions. */
  close(): void {
    for (const listener of this.#onClose) listener()
  }

  #notify({ method, subscription, event }: Notification): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener({ type: method, data: { subscription, result: event.value() } })
      } catch (error) {
        this.#logger.error('a listener failed', { error, subscription })
      }
    }
  }
}
