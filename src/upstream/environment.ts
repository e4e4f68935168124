/** What the client of an upstream takes from the process: its clock, random numbers, name resolution and log lines. */
import { type Resolver, resolveName } from './forbidden-address.ts'

/** Time, which tests replace. Milliseconds. */
export interface RemoteClock {
  now(): number
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Calls `run` after this many milliseconds, unless the returned function was called before. */
  deadline(milliseconds: number, run: () => void): () => void
}

/** What the client of an upstream needs of its process. */
export interface RemoteDeps {
  readonly clock: RemoteClock
  /** From 0 to below 1. */
  readonly random: () => number
  readonly resolve: Resolver
  /** A line about something that the user should know, such as a corrupt part of the cache. */
  readonly notice: (message: string) => void
}

/** The clock and the random numbers of this process. */
export function systemDeps(notice: (message: string) => void): RemoteDeps {
  return {
    clock: {
      now: () => Date.now(),
      wait: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          const end = () => {
            clearTimeout(timer)
            reject(signal.reason)
          }
          const timer = setTimeout(() => {
            signal.removeEventListener('abort', end)
            resolve()
          }, milliseconds)
          signal.addEventListener('abort', end, { once: true })
        }),
      deadline(milliseconds, run) {
        const timer = setTimeout(run, milliseconds)
        return () => clearTimeout(timer)
      },
    },
    random: Math.random,
    resolve: resolveName,
    notice,
  }
}
