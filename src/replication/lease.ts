/**
 * The lease of the leader: an entry of a bucket that expires. It decides who tries to lead; that only one node writes is
 * up to the log.
 */
import { JetStreamApiError } from '@nats-io/jetstream'
import type { Bucket } from './jetstream.ts'

/** How long the entries of the bucket live, milliseconds. */
export const LEASE_MS = 2_500
/** Between two attempts to get the lease: its expiry is not announced. */
const POLL_MS = 200
const RENEW_MS = 500
/** Its key in the bucket; the value is the id of the node. */
export const LEASE_KEY = 'leader'

/** A lease that is wanted, or held. */
export interface Lease {
  /** `performance.now()` until which no other node can hold it; 0 while it is not held. */
  readonly heldUntil: number
  /** Gives it up, or stops wanting it. Another node can have it at once. */
  stop(): Promise<void>
}

interface Parts {
  readonly bucket: Bucket
  readonly node: string
  /** Why this node cannot lead at present: it does not want the lease, and gives it up. `undefined` when it can. */
  obstacle(): unknown
  /** It is held, or held again after `heldUntil` had passed. */
  onHeld(): void
  onLost(): void
  /** An attempt failed: since another node holds the lease, without a `reason`. */
  onFailed(reason: unknown): void
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref())

/** Tries to get the lease, holds it, and tries again when it is lost. */
export function createLease({ bucket, node, obstacle, onHeld, onLost, onFailed }: Parts): Lease {
  let revision: number | undefined
  let heldUntil = 0
  let isStopped = false

  /** Whoever gave up meanwhile because the lease seemed to have expired tries again. */
  function hold(until: number): void {
    const isNew = performance.now() > heldUntil
    heldUntil = until
    if (isNew) onHeld()
  }

  function lose(): void {
    revision = undefined
    heldUntil = 0
    onLost()
  }

  async function acquire(): Promise<void> {
    const begun = performance.now()
    try {
      revision = await bucket.create(LEASE_KEY, node)
    } catch (error) {
      onFailed(error instanceof JetStreamApiError ? undefined : error)
      return
    }
    if (isStopped) return
    hold(begun + LEASE_MS)
  }

  /**
   * The revision after a renewal was refused: an earlier one that NATS did not answer has changed it, or the lease expired
   * while this process was busy and no other node took it.
   */
  async function recover(): Promise<number | undefined> {
    try {
      const entry = await bucket.get(LEASE_KEY)
      if (entry?.operation !== 'PUT') return await bucket.create(LEASE_KEY, node)
      // The renewal that was not answered is older than this one: the entry lives no longer for being found.
      return entry.string() === node ? await bucket.update(LEASE_KEY, node, entry.revision) : undefined
    } catch {
      return undefined
    }
  }

  async function renew(held: number): Promise<void> {
    const begun = performance.now()
    try {
      revision = await bucket.update(LEASE_KEY, node, held)
      hold(begun + LEASE_MS)
    } catch (error) {
      if (error instanceof JetStreamApiError) {
        const again = await recover()
        if (again === undefined) return lose()
        revision = again
        hold(begun + LEASE_MS)
      } else if (performance.now() > heldUntil) lose()
    }
  }

  async function giveUp(held: number): Promise<void> {
    await bucket.delete(LEASE_KEY, { previousSeq: held }).catch(() => {})
  }

  const running = (async () => {
    while (!isStopped) {
      const [reason, held] = [obstacle(), revision]
      if (reason !== undefined) {
        onFailed(reason)
        if (held !== undefined) {
          lose()
          await giveUp(held)
        }
      } else if (revision === undefined) await acquire()
      else await renew(revision)
      await pause(revision === undefined ? POLL_MS : RENEW_MS)
    }
  })()

  return {
    get heldUntil() {
      return heldUntil
    },
    async stop() {
      isStopped = true
      heldUntil = 0
      if (revision !== undefined) await giveUp(revision)
      await running
    },
  }
}
