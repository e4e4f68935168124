/** Messages that answer no request: what happened, said once, and sent to everybody who subscribed to it. */
import type { Hex } from '../encoding/hex.ts'

/** One thing that happened, on the wire. */
export class News {
  readonly #tell: () => unknown
  #json: string | undefined

  /** `tell` gives the wire form, a new one each time. */
  constructor(tell: () => unknown) {
    this.#tell = tell
  }

  /** As JSON text, written once for all who hear of it. */
  get json(): string {
    this.#json ??= JSON.stringify(this.#tell())
    return this.#json
  }

  /** As a value of the caller's own. */
  value(): unknown {
    return this.#tell()
  }
}

/** News for one subscription. */
export interface Notification {
  readonly method: 'eth_subscription'
  readonly subscription: Hex
  readonly news: News
}

/** The whole message as JSON text (docs/rpc-reference.md#78-subscriptions). */
export function notificationText({ method, subscription, news }: Notification): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":{"subscription":"${subscription}","result":${news.json}}}`
}
