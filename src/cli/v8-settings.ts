/** Settings of V8 in a process of our own: when it optimizes, and how far the heap grows between collections. */
import v8 from 'node:v8'

/**
 * How long a function runs before V8 optimizes it in Node 20 (`late`), four times as long as by V8's default (`own`). A
 * node that has just started spends more processor time on optimizing than on its transactions: each of the
 * first 1,500 short tests (row `suite-short` of the bench) took 4.4 ms instead of 5.4. V8 of Node 24 and 26 optimizes in
 * more steps: with invocation counts four times as high, the tests took 4.2 ms instead of 3.5 on Node 26, and of 2,000
 * transfers the first 500 9 and 12 % less, the last 1,500 11 and 25 % more (medians of interleaved runs on a loaded
 * machine, 2026-11-28).
 */
const SETTINGS = { late: '--interrupt-budget=264000', own: '--interrupt-budget=67584' }

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
 * Has V8 of Node 20 optimize later while the process is new. It changes V8 for everything in the process, so it is only
 * for the commands' own process, and only once the modules are loaded: V8 takes no compiled code out of a cache, not even
 * Node's own modules, after any of its settings has changed.
 */
export function delayOptimization(time: ProcessTime = PROCESS_TIME): void {
  if (Number.parseInt(process.versions.node, 10) >= 22) return
  v8.setFlagsFromString(SETTINGS.late)
  const check = () => {
    const left = UNTIL_MS - time.used()
    // One busy thread cannot use up the rest sooner.
    if (left > 0) time.later(Math.max(left, 100), check)
    else v8.setFlagsFromString(SETTINGS.own)
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
