/** What the client of an upstream takes from the process: its clock, random numbers, name resolution and log lines. */
import type { RemoteClock } from './clock.ts'
import { type Resolver, resolveName } from './forbidden-address.ts'
import type { Sender } from './sender.ts'

/** What the client of an upstream needs of its process. */
export interface RemoteDeps {
  readonly clock: RemoteClock
  /** From 0 to below 1. */
  readonly random: () => number
  readonly resolve: Resolver
  /** A line about something that the user should know, such as a corrupt part of the cache. */
  readonly notice: (message: string) => void
  /** The sender in whose place another one observes what is sent; absent where nothing does. */
  readonly observe?: SenderObserver | undefined
}

/** Makes the sender that observes another one. */
export type SenderObserver = (sender: Sender) => Sender

/** The clock and the random numbers of this process. */
export function systemDeps(notice: (message: string) => void, observe?: SenderObserver): RemoteDeps {
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
    observe,
  }
}
