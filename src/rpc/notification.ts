/** Messages that answer no request: an event, serialised once, and sent to every subscriber. */
import type { Hex } from '../encoding/hex.ts'

/** One event on the wire. */
export class FeedEvent {
  readonly #wireForm: () => unknown
  #json: string | undefined

  /** `wireForm` gives a new value each time. */
  constructor(wireForm: () => unknown) {
    this.#wireForm = wireForm
  }

  /** As JSON text, written once for all subscribers. */
  get json(): string {
    this.#json ??= JSON.stringify(this.#wireForm())
    return this.#json
  }

  /** As a value of the caller's own. */
  value(): unknown {
    return this.#wireForm()
  }
}

/** An event for one subscription. */
export interface Notification {
  readonly method: 'eth_subscription'
  readonly subscription: Hex
  readonly event: FeedEvent
}

/** The whole message as JSON text (docs/internals/rpc-reference.md#78-subscriptions). */
export function notificationText({ method, subscription, event }: Notification): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":{"subscription":"${subscription}","result":${event.json}}}`
}
