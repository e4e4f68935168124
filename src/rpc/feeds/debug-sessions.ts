/** The debugger sessions of callers: a few at once, which end with their connection, and when they are not used. */
import type { Hex } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { RandomBytes } from '../../engine/randomness.ts'
import type { OpenDebugSession } from '../../engine/sources/debugger.ts'
import { invalidParams } from '../../errors.ts'
import type { Session } from '../session.ts'
import { heldId } from './filters.ts'

/** Sessions that are open at once. The one that was used longest ago is closed for another one. */
const MOST_SESSIONS = 8
/** Bytes of all sessions. One alone may be larger. */
const MOST_BYTES = 1 << 30
/** A session that is not used for this time is closed, milliseconds. */
const IDLE_MS = 15 * 60_000

interface Kept {
  readonly owner: string
  readonly opened: OpenDebugSession
  /** When it was last used, milliseconds. */
  used: number
}

interface Parts {
  readonly node: CurrentEngine
  /** Milliseconds from any start. */
  readonly elapsed: () => number
  readonly random: RandomBytes
}

/** The sessions of a node. One belongs to the owner of the session that opened it; to others it does not exist. */
export class DebugSessions {
  readonly #parts: Parts
  readonly #kept = new Map<Hex, Kept>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    parts.node.events.on('replaced', () => {
      for (const id of [...this.#kept.keys()]) this.#forget(id)
    })
  }

  /** Keeps a session for a caller; its id. */
  add(opened: OpenDebugSession, { owner, onClose }: Pick<Session, 'owner' | 'onClose'>): Hex {
    const id = heldId(this.#parts.random)
    this.#kept.set(id, { owner, opened, used: this.#parts.elapsed() })
    this.#makeRoom()
    onClose?.(() => this.#forget(id))
    this.#watch()
    return id
  }

  /** A session of a caller, used now. Throws `invalid-params`. */
  find(id: Hex, { owner }: Pick<Session, 'owner'>): OpenDebugSession {
    const kept = this.#kept.get(id)
    if (kept === undefined || kept.owner !== owner) {
      throw invalidParams('session: there is no such session of the debugger; it may have ended')
    }
    kept.used = this.#parts.elapsed()
    return kept.opened
  }

  /** Closes a session; false when there is none. */
  remove(id: Hex, { owner }: Pick<Session, 'owner'>): boolean {
    if (this.#kept.get(id)?.owner !== owner) return false
    this.#forget(id)
    return true
  }

  /** Closes sessions until the others are few and small enough; the one that was used last stays. */
  #makeRoom(): void {
    const byUse = [...this.#kept].toSorted(([, a], [, b]) => a.used - b.used)
    let bytes = byUse.reduce((sum, [, { opened }]) => sum + opened.session.bytes, 0)
    for (const [id, { opened }] of byUse.slice(0, -1)) {
      if (this.#kept.size <= MOST_SESSIONS && bytes <= MOST_BYTES) return
      bytes -= opened.session.bytes
      this.#forget(id)
    }
  }

  #forget(id: Hex): void {
    this.#kept.get(id)?.opened.close()
    this.#kept.delete(id)
    if (this.#kept.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Closes idle sessions later; keeps no process alive. */
  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const since = this.#parts.elapsed() - IDLE_MS
      for (const [id, { used }] of [...this.#kept]) if (used <= since) this.#forget(id)
      if (this.#kept.size > 0) this.#watch()
    }, IDLE_MS / 3).unref()
  }
}
