/** Hooks that load what a page shows, and run what a button does. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from './format.ts'
import { connection, epoch, version } from './store.ts'

/** What was loaded, or why it was not. The value of an earlier load stays while it is loaded again. */
export interface Loaded<Value> {
  readonly value: Value | undefined
  readonly error: string | undefined
  readonly isLoading: boolean
  reload(): void
}

/** When a query is repeated beside a change of its key: with each change of the chain, after reorganisations, or never. */
export type Liveness = 'live' | 'settled' | 'once'

/** Loads a value, again when `key` changes and when `liveness` asks for it. An answer that is overtaken by a later load is dropped. */
export function useQuery<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  liveness: Liveness = 'settled',
): Loaded<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; error?: string }>({ key: '' })
  const [attempt, setAttempt] = useState(0)
  const current = useRef(load)
  current.current = load
  const moment =
    liveness === 'live' ? `${epoch.value} ${version.value}` : liveness === 'settled' ? epoch.value : 0

  useEffect(() => {
    const controller = new AbortController()
    current.current(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ key, value })
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setState({ key, error: messageOf(error) })
      },
    )
    return () => controller.abort()
  }, [key, moment, attempt])

  const isCurrent = state.key === key
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent && connection.value !== 'lost' ? state.error : undefined,
    isLoading: !isCurrent,
    reload: () => setAttempt((count) => count + 1),
  }
}

/** What a button runs: whether it is running, and why it failed. */
export interface Action {
  readonly isRunning: boolean
  readonly error: string | undefined
  run(): void
}

/** Runs a function on request, once at a time. */
export function useAction(work: () => Promise<unknown>): Action {
  const [state, setState] = useState<{ isRunning: boolean; error?: string }>({ isRunning: false })
  const current = useRef(work)
  current.current = work
  return {
    isRunning: state.isRunning,
    error: state.error,
    run() {
      if (state.isRunning) return
      setState({ isRunning: true })
      current.current().then(
        () => setState({ isRunning: false }),
        (error: unknown) => setState({ isRunning: false, error: messageOf(error) }),
      )
    },
  }
}
