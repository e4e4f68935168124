/** Parts for tests of forks: settings, and a clock that only the test moves. */
import type { RemoteClock } from '../../src/upstream/clock.ts'
import { type RemoteDeps, systemDeps } from '../../src/upstream/environment.ts'
import { originOf } from '../../src/upstream/sender.ts'
import type { RemoteSettings } from '../../src/upstream/settings.ts'

/** A clock whose waits end at once and move it; deadlines pass when the test ends them. */
export interface TestClock extends RemoteClock {
  /** The waits so far, milliseconds. */
  readonly waits: number[]
  /** Ends all deadlines that are running. */
  expire(): void
  /** How many deadlines run. */
  running(): number
}

/** Starts at a fixed time. */
export function testClock(start = 1_700_000_000_000): TestClock {
  let time = start
  const waits: number[] = []
  const deadlines = new Set<() => void>()
  return {
    waits,
    now: () => time,
    wait(milliseconds, signal) {
      if (signal.aborted) return Promise.reject(signal.reason)
      waits.push(milliseconds)
      time += milliseconds
      return Promise.resolve()
    },
    deadline(_milliseconds, run) {
      deadlines.add(run)
      return () => deadlines.delete(run)
    },
    expire() {
      for (const run of [...deadlines]) run()
    },
    running: () => deadlines.size,
  }
}

/** Settings of a fork of these URLs, in memory. */
export function remoteSettings(urls: readonly string[], given: Partial<RemoteSettings> = {}): RemoteSettings {
  return {
    urls,
    headers: [],
    headerOrigins: urls.map(originOf),
    timeoutMs: 60_000,
    retries: 3,
    rate: 0,
    callsPerDay: 0,
    cacheBytes: 1 << 30,
    isOffline: false,
    isVerified: false,
    ...given,
  }
}

/** A test's dependencies; chance is always a half. */
export function testDeps(given: Partial<RemoteDeps> = {}): RemoteDeps & { readonly notices: string[] } {
  const notices: string[] = []
  return {
    ...systemDeps(() => {}),
    random: () => 0.5,
    notice: (message) => notices.push(message),
    ...given,
    notices,
  }
}
