/**
 * The lease of the leader: an entry of a bucket that expires. It decides who tries to lead; that only one node writes is
 * up to the log.
 */
import { JetStreamApiError } from '@nats-io/jetstream'
import type { Bucket } from './jetstream.ts'
import { pause } from './pause.ts'

/** How long the entries of the bucket live, milliseconds. */
export const LEASE_MS = 2_500
/** Between two attempts to get the lease: its expiry is not announced. */
const POLL_MS = 200
const RENEW_MS = 500
/** Its key in the bucket; the value is the id of the node. */
export const LEASE_KEY = 'leader'

interface Parts {
  readonly bucket: Bucket
  readonly node: string
  /** Why this node cannot lead at present: then it gives up the lease, or does not try to get it. `undefined` when it can. */
  obstacle(): unknown
  /** The node got the lease, or got it again after `heldUntil` had passed. */
  onHeld(): void
  onLost(): void
  /** An attempt failed: since another node holds the lease, without a `reason`. */
  onFailed(reason: unknown): void
}

/** Tries to get the lease, holds it, and tries again when it is lost. */
export class Lease {
  readonly #parts: Parts
  readonly #running: Promise<void>
  /** Of the entry that this node wrote; `undefined` while it does not hold the lease. */
  #revision: number | undefined
  #heldUntil = 0
  #isStopped = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#running = this.#run()
  }

  /** `performance.now()` until which no other node can hold it; 0 while it is not held. */
  get heldUntil(): number {
    return this.#heldUntil
  }

  /** Gives it up, or stops wanting it. Another node can have it at once. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#heldUntil = 0
    if (this.#revision !== undefined) await this.#giveUp(this.#revision)
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const [reason, held] = [this.#parts.obstacle(), this.#revision]
      if (reason !== undefined) {
        this.#parts.onFailed(reason)
        if (held !== undefined) {
          this.#lose()
          await this.#giveUp(held)
        }
      } else if (held === undefined) await this.#acquire()
      else await this.#renew(held)
      await pause(this.#revision === undefined ? POLL_MS : RENEW_MS)
    }
  }

  /** A leader that stepped down because the lease seemed to have expired leads again. */
  #hold(until: number): void {
    const isNew = performance.now() > this.#heldUntil
    this.#heldUntil = until
    if (isNew) this.#parts.onHeld()
  }

  #lose(): void {
    this.#revision = undefined
    this.#heldUntil = 0
    this.#parts.onLost()
  }

  async #acquire(): Promise<void> {
    const begun = performance.now()
    const { bucket, node, onFailed } = this.#parts
    try {
      this.#revision = await bucket.create(LEASE_KEY, node)
    } catch (error) {
      onFailed(error instanceof JetStreamApiError ? undefined : error)
      return
    }
    if (!this.#isStopped) this.#hold(begun + LEASE_MS)
  }

  async #renew(held: number): Promise<void> {
    const begun = performance.now()
    const { bucket, node } = this.#parts
    try {
      this.#revision = await bucket.update(LEASE_KEY, node, held)
      this.#hold(begun + LEASE_MS)
    } catch (error) {
      if (error instanceof JetStreamApiError) {
        const again = await this.#recover()
        if (again === undefined) return this.#lose()
        this.#revision = again
        this.#hold(begun + LEASE_MS)
      } else if (performance.now() > this.#heldUntil) this.#lose()
    }
  }

  /**
   * The revision after a renewal was refused: an earlier one that NATS did not answer has changed it, or the lease expired
   * while this process was busy and no other node took it.
   */
  async #recover(): Promise<number | undefined> {
    const { bucket, node } = this.#parts
    try {
      const entry = await bucket.get(LEASE_KEY)
      if (entry?.operation !== 'PUT') return await bucket.create(LEASE_KEY, node)
      // The renewal that was not answered is older than this one: the entry lives no longer for being found.
      return entry.string() === node ? await bucket.update(LEASE_KEY, node, entry.revision) : undefined
    } catch {
      return undefined
    }
  }

  async #giveUp(held: number): Promise<void> {
    await this.#parts.bucket.delete(LEASE_KEY, { previousSeq: held }).catch(() => {})
  }
}
