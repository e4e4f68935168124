/** Authenticates callers by their API key, and charges their calls and sockets to the limits of that key. */
import type { Duplex } from 'node:stream'
import type { Logger } from '../../logger.ts'
import type { ApiKeyClient } from './api-key-client.ts'
import { type ActiveKey, KeyRing } from './key-ring.ts'
import type { Spent } from './limit-counter.ts'
import { createMeter, type Meter } from './meter.ts'

/** What callers are authenticated by. */
interface AuthenticationParts {
  readonly ring: KeyRing
  readonly meter: Meter
  readonly maxSocketsPerKey: number
}

/** The authentication of a server. */
export class Authentication {
  readonly #ring: KeyRing
  readonly #meter: Meter
  readonly #maxSockets: number
  /** Open sockets by the name of their key. */
  readonly #sockets = new Map<string, number>()
  readonly #refusals = new Map<string, number>()

  constructor({ ring, meter, maxSocketsPerKey }: AuthenticationParts) {
    this.#ring = ring
    this.#meter = meter
    this.#maxSockets = maxSocketsPerKey
  }

  /** How many messages and sockets were refused by the limits of a key, by the key's name. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refusals
  }

  /** The client of the key in a path; `undefined` without a valid one. Takes the same time either way. */
  authenticate(path: string): ApiKeyClient | undefined {
    const key = this.#ring.find(path)
    if (key === undefined) return undefined
    return {
      key,
      charge: (calls) => this.#counted(key.name, this.#meter.charge(key.record, calls)),
      openSocket: (socket) => this.#counted(key.name, this.#openSocket(key, socket)),
    }
  }

  async close(): Promise<void> {
    this.#ring.close()
    await this.#meter.close()
  }

  /** Counts a refusal. */
  async #counted(name: string, answer: Promise<Spent | undefined>): Promise<Spent | undefined> {
    const spent = await answer
    if (spent !== undefined) this.#refusals.set(name, (this.#refusals.get(name) ?? 0) + 1)
    return spent
  }

  async #openSocket({ name, record }: ActiveKey, socket: Duplex): Promise<Spent | undefined> {
    const spent = await this.#meter.charge(record, 1)
    if (spent !== undefined) return spent
    const open = this.#sockets.get(name) ?? 0
    if (open >= this.#maxSockets) {
      return { message: `Too many open sockets: the limit is ${this.#maxSockets}`, retryAfterSeconds: 1 }
    }
    this.#sockets.set(name, open + 1)
    // A socket that closed in the meantime emits `close` no more.
    if (socket.destroyed) this.#closeSocket(name)
    else socket.once('close', () => this.#closeSocket(name))
    return undefined
  }

  #closeSocket(name: string): void {
    const left = (this.#sockets.get(name) ?? 1) - 1
    if (left === 0) this.#sockets.delete(name)
    else this.#sockets.set(name, left)
  }
}

/** Opens a key file, and the Redis to count in if one is named. Throws `invalid-options` when either fails. */
export async function openAuthentication(parts: {
  readonly apiKeys: string
  readonly redis: string | undefined
  readonly maxSocketsPerKey: number
  readonly logger: Logger
}): Promise<Authentication> {
  const ring = new KeyRing(parts.apiKeys, parts.logger)
  const meter = await createMeter({ ...parts, now: Date.now }).catch((error) => {
    ring.close()
    throw error
  })
  return new Authentication({ ring, meter, maxSocketsPerKey: parts.maxSocketsPerKey })
}
