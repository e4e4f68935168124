/** Lets in those who hold a key, as the sessions that it makes of them, and takes what their calls cost. */
import type { Duplex } from 'node:stream'
import type { Logger } from '../../logger.ts'
import type { ApiKeyClient } from './api-key-client.ts'
import { type LivingKey, openKeyRing } from './key-ring.ts'
import { createMeter, type Spent } from './meter.ts'

/** The gate of a server. */
export interface Authentication {
  /** Who holds the key in a path; `undefined` when there is none that is good. Takes the same time either way. */
  admit(path: string): ApiKeyClient | undefined
  /** How often the holders of a key were told that its limits are spent, by its name. */
  readonly refusals: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Opens the gate over a key file. Throws `invalid-options` when the file, or the Redis to count in, is not good. */
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

  /** Counts an answer that is a refusal. */
  async function counted(name: string, answer: Promise<Spent | undefined>): Promise<Spent | undefined> {
    const spent = await answer
    if (spent !== undefined) refusals.set(name, (refusals.get(name) ?? 0) + 1)
    return spent
  }

  async function openSocket({ name, record }: LivingKey, socket: Duplex): Promise<Spent | undefined> {
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
    const giveBack = () => {
      const left = (sockets.get(name) ?? 1) - 1
      if (left === 0) sockets.delete(name)
      else sockets.set(name, left)
    }
    // One that has gone in the meantime says so no more.
    if (socket.destroyed) giveBack()
    else socket.once('close', giveBack)
    return undefined
  }

  return {
    admit(path) {
      const key = ring.find(path)
      if (key === undefined) return undefined
      return {
        key,
        charge: (calls) => counted(key.name, meter.charge(key.record, calls)),
        openSocket: (socket) => counted(key.name, openSocket(key, socket)),
      }
    },
    refusals,
    async close() {
      ring.close()
      await meter.close()
    },
  }
}
