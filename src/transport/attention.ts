/**
 * Staying awake for a moment after an answer. A test suite asks again as soon as it has read its answer; a process that
 * went to sleep in between needs longer to wake up, on caches gone cold, than many a call takes.
 */
import { availableParallelism } from 'node:os'

/** So soon after an answer the same callers are expected again, milliseconds; nobody is waited for any longer. */
const WINDOW_MS = 0.6
/** Of this many last pauses between answer and call at least `OFTEN` must have been short. */
const LOOKED_AT = 8
const OFTEN = 5
/** Two looks at the sockets are microseconds apart; so many milliseconds are work of ours, or others had the processor. */
const STRETCHED_MS = 1
/** Work of ours has used at least this part of the time that passed, on one processor or several. */
const OWN_SHARE = 0.5
/** How long a processor that others want is left to them, milliseconds. */
const YIELD_MS = 50

/** Hears of the calls of all doors. */
export interface Attention {
  /** A call has come in. */
  arrived(): void
  /** An answer is on its way. */
  answered(): void
}

/** What the time and the event loop are; given by tests. */
export interface AttentionParts {
  /** Milliseconds from any start. */
  readonly now: () => number
  /** Runs a step after the event loop has looked at its sockets. */
  readonly next: (step: () => void) => void
  /** Milliseconds of processor time that the process has used. */
  readonly used: () => number
  /** Processors that the process may use. */
  readonly processors: number
}

const PROCESS: AttentionParts = {
  now: () => performance.now(),
  next: (step) => void setImmediate(step),
  used() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  processors: availableParallelism(),
}

function countOnes(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}

/**
 * Keeps the event loop turning for up to a window after an answer, while most callers do ask again within it. Costs an
 * idle node nothing; gives way when the processor is wanted elsewhere, and never begins where there is only one.
 */
export function createAttention(parts: AttentionParts = PROCESS): Attention {
  const { now, next, used, processors } = parts
  /** One bit per pause, the last one lowest; set when it was short. */
  let pauses = 0
  let answeredAt = Number.NEGATIVE_INFINITY
  let lookedAt = 0
  let usedAtAnswer = 0
  let calmFrom = Number.NEGATIVE_INFINITY
  let awake = false

  /** Has somebody else had the processor for most of the time since the last answer? */
  function isCrowded(time: number): boolean {
    return used() - usedAtAnswer < OWN_SHARE * (time - answeredAt)
  }

  function look(): void {
    const time = now()
    if (time - lookedAt > STRETCHED_MS && isCrowded(time)) calmFrom = time + YIELD_MS
    lookedAt = time
    if (time - answeredAt < WINDOW_MS && time >= calmFrom) next(look)
    else awake = false
  }

  return {
    arrived() {
      const wasShort = now() - answeredAt < WINDOW_MS
      pauses = ((pauses << 1) | (wasShort ? 1 : 0)) & ((1 << LOOKED_AT) - 1)
    },
    answered() {
      answeredAt = now()
      if (!awake && (processors < 2 || answeredAt < calmFrom || countOnes(pauses) < OFTEN)) return
      usedAtAnswer = used()
      if (awake) return
      awake = true
      lookedAt = answeredAt
      next(look)
    },
  }
}
