/** Settings of V8 in a process of our own: when it optimizes, and how far the heap grows between collections. */
import v8 from 'node:v8'

/**
 * How long a function runs before V8 optimizes it (`late`), four times as long as by V8's defaults (`own`); the flags
 * of Node 20 and of later releases. A node that has just started spends more processor time on optimizing than on its
 * transactions. Each of the first 400 transfers of a chain in memory took 2.6 to 3.9 ms instead of 3.6 to 5.0 on Node
 * 20, the next 1,000 cost no more, and on Node 22 and 24 the first 100 took a sixth to a third less (interleaved runs
 * on a loaded machine).
 */
const SETTINGS = {
  node20: { late: ['--interrupt-budget=264000'], own: ['--interrupt-budget=67584'] },
  later: {
    late: ['--invocation-count-for-maglev=1600', '--invocation-count-for-turbofan=12000'],
    own: ['--invocation-count-for-maglev=400', '--invocation-count-for-turbofan=3000'],
  },
} as const

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
 * Has V8 optimize later while the process is new. It changes V8 for everything in the process, so it is only for the
 * commands' own process.
 */
export function delayOptimization(time: ProcessTime = PROCESS_TIME): void {
  const release = Number.parseInt(process.versions.node, 10)
  const { late, own } = release < 22 ? SETTINGS.node20 : SETTINGS.later
  for (const flag of late) v8.setFlagsFromString(flag)
  const check = () => {
    const left = UNTIL_MS - time.used()
    // One busy thread cannot use up the rest sooner.
    if (left > 0) time.later(Math.max(left, 100), check)
    else for (const flag of own) v8.setFlagsFromString(flag)
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
