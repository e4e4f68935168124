/** Settings of V8 in a process of our own: when it optimizes, and how far the heap grows between collections. */
import v8 from 'node:v8'

/**
 * What makes V8 spend less on optimizing and on its helper threads (`early`), and what undoes it (`own`), by release. A node
 * that has just started spends more processor time on them than on its transactions.
 * - Node 20: a function runs four times as long as by default before it is optimized. Each of the first 1,500 short tests
 *   (row `suite-short` of the bench) took 4.4 ms instead of 5.4.
 * - Node 24 and later: the efficiency mode. Each of the first 500 transfers took 1.82 ms of processor time (1.76 to 1.92)
 *   instead of 2.30 (2.24 to 2.68) on Node 26, and 2.00 (1.90 to 2.66) instead of 2.62 (2.42 to 3.40) on 24 (five
 *   interleaved rounds on 2026-11-29). With the mode on throughout, the last 3,000 of 6,000 took 5 % more on 26 and 8 %
 *   less on 24. On Node 22 it changes nothing beyond the spread.
 */
const SETTINGS = [
  { from: 20, before: 22, early: '--interrupt-budget=264000', own: '--interrupt-budget=67584' },
  { from: 24, before: Number.POSITIVE_INFINITY, early: '--efficiency-mode', own: '--no-efficiency-mode' },
]

/**
 * Processor time after which V8's own settings are back, milliseconds: 500 transfers take less, and a process that has
 * taken as much runs on, so that optimizing pays.
 */
const UNTIL_MS = 3_000

/** The time of a process. */
export interface ProcessTime {
  /** Processor time that the process has taken, milliseconds. */
  used(): number
  /** Calls back after a delay, unless the process ends first. */
  later(milliseconds: number, call: () => void): void
}

const PROCESS_TIME: ProcessTime = {
  used() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  later(milliseconds, call) {
    setTimeout(call, milliseconds).unref()
  },
}

/**
 * Has V8 optimize less while the process is new. It changes V8 for everything in the process, so it is only for the
 * commands' own process, and only once the port is open: V8 refuses compiled code that was made under other settings, that of
 * Node's own modules too.
 */
export function delayOptimization(time: ProcessTime = PROCESS_TIME): void {
  const release = Number.parseInt(process.versions.node, 10)
  const settings = SETTINGS.find(({ from, before }) => release >= from && release < before)
  if (settings === undefined) return
  const { early, own } = settings
  v8.setFlagsFromString(early)
  const check = () => {
    const left = UNTIL_MS - time.used()
    // One busy thread cannot use up the rest sooner.
    if (left > 0) time.later(Math.max(left, 100), check)
    else v8.setFlagsFromString(own)
  }
  check()
}

/**
 * Percent by which the old generation of the heap grows beyond what lives there before it is collected again. V8 itself
 * allows up to four times as much as lives: a chain on disk then took 193 to 230 MB of resident memory between 10,000 and
 * 50,000 blocks, and with this 169 to 180 MB, the processor time of a transaction being the same (Node 20, one run each).
 */
const HEAP_GROWTH = 50

/** Has V8 collect the old generation more often; for a process of our own with a chain on disk. */
export function limitHeapGrowth(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`)
}
