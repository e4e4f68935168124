/** Authenticates callers by their API key, and charges their calls and sockets to the limits of that key. */
import type { Duplex } from 'node:stream'
import type { Logger } from '../../logger.ts'
import type { ApiKeyClient } from './api-key-client.ts'
import { type ActiveKey, openKeyRing } from './key-ring.ts'
import type { Spent } from './limit-counter.ts'
import { createMeter } from './meter.ts'

/** The authentication of a server. */
export interface Authentication {
  /** The client of the key in a path; `undefined` without a valid one. Takes the same time either way. */
  authenticate(path: string): ApiKeyClient | undefined
  /** How many messages and sockets were refused by the limits of a key, by the key's name. */
  readonly refusals: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Opens a key file, and the Redis to count in if one is named. Throws `invalid-options` when either fails. */
export async function openAuthentication(parts: {
  readonly apiKeys: string
  readonly redis: string | undefined
  readonly maxSocketsPerKey: number
  readonly logger: Logger
}): Promise<Authentication> {
  const ring = openKeyRing(parts.apiKeys, parts.logger)
  const meter = await createMeter({ ...parts, now: Date.now }).catch((error) => {
    ring.close()
    throw error
  })
  /** Open sockets by the name of their key. */
  const sockets = new Map<string, number>()
  const refusals = new Map<string, number>()

  /** Counts a refusal. */
  async function countRefusal(name: string, answer: Promise<Spent | undefined>): Promise<Spent | undefined> {
    const spent = await answer
    if (spent !== undefined) refusals.set(name, (refusals.get(name) ?? 0) + 1)
    return spent
  }

  async function openSocket({ name, record }: ActiveKey, socket: Duplex): Promise<Spent | undefined> {
    const spent = await meter.charge(record, 1)
    if (spent !== undefined) return spent
    const open = sockets.get(name) ?? 0
    if (open >= parts.maxSocketsPerKey) {
      return {
        message: `Too many open sockets: the limit is ${parts.maxSocketsPerKey}`,
        retryAfterSeconds: 1,
      }
    }
    sockets.set(name, open + 1)
    const release = () => {
      const left = (sockets.get(name) ?? 1) - 1
      if (left === 0) sockets.delete(name)
      else sockets.set(name, left)
    }
    // A socket that closed in the meantime emits `close` no more.
    if (socket.destroyed) release()
    else socket.once('close', release)
    return undefined
  }

  return {
    authenticate(path) {
      const key = ring.find(path)
      if (key === undefined) return undefined
      return {
        key,
        charge: (calls) => countRefusal(key.name, meter.charge(key.record, calls)),
        openSocket: (socket) => countRefusal(key.name, openSocket(key, socket)),
      }
    },
    refusals,
    async close() {
      ring.close()
      await meter.close()
    },
  }
}
