/** What leaves the engine when something moved, and the typed emitter that carries it. */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { NodeError } from '../errors.ts'
import type { Failure } from '../evm/failure-message.ts'
import type { CallRequest, StateOverrides } from '../execution/request.ts'
import type { BlockReference } from './engine.ts'

/** The canonical chain moved: extend, reorganisation and rewind are one shape. Emitted once, after the write. */
export interface ChainUpdate {
  /** From the old head downwards. */
  readonly removed: readonly ExecutedBlock[]
  /** Upwards to the new head. */
  readonly added: readonly ExecutedBlock[]
  /** By hash, of transactions that ran for this move and failed or said something. */
  readonly notes?: ReadonlyMap<Hex, TransactionNotes>
}

/** What is heard of a transaction only while it runs. */
export interface TransactionNotes {
  readonly failure?: Failure
  /** What it said to the console contract, line by line. */
  readonly console?: readonly string[]
}

/** What code said to the console contract; not told of estimates, traces and blocks that are only tried. */
export interface ConsoleOutput {
  /** One text per call, as it was said: any character may stand in it. */
  readonly texts: readonly string[]
  /** Of the transaction; absent for a simulated call. */
  readonly transaction?: Hex
}

/** A simulated message failed, and its caller is about to hear why. */
export interface FailedCall {
  /** What the caller gets. */
  readonly error: NodeError
  readonly request: CallRequest
  /** The very block, also when another was the latest since. */
  readonly reference: BlockReference
  readonly overrides?: StateOverrides
}

/** Transactions that entered the set of runnable ones. */
export interface PoolUpdate {
  readonly added: readonly Transaction[]
}

/** A transaction, call or block worth a line in the terminal. */
export interface EngineEvents {
  chain: ChainUpdate
  pool: PoolUpdate
  console: ConsoleOutput
  failedCall: FailedCall
}

/** Listeners run in the order in which they came; one that throws is reported and does not stop the others. */
export interface Emitter<Events> {
  on<K extends keyof Events>(name: K, listener: (event: Events[K]) => void): () => void
  emit<K extends keyof Events>(name: K, event: Events[K]): void
}

/** Makes an emitter; `onError` hears what a listener threw. */
export function createEmitter<Events>(onError: (error: unknown) => void): Emitter<Events> {
  const listeners = new Map<keyof Events, Set<(event: never) => void>>()
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener as (event: never) => void)
      return () => set.delete(listener as (event: never) => void)
    },
    emit(name, event) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          listener(event as never)
        } catch (error) {
          onError(error)
        }
      }
    },
  }
}
