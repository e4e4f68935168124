/** The events that filters report: changes of the chain and new transactions, in order, recorded while there are filters. */
import type { Hex } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { ChainUpdate, PoolUpdate } from '../../engine/model.ts'
import { Backlog } from './backlog.ts'
import { chainSteps, headAfter } from './chain-steps.ts'
import type { BlockStep } from './log-poll.ts'

/** Called after an event was recorded, and after the chain was replaced. */
export interface FilterEventListeners {
  readonly recorded: () => void
  readonly replaced: () => void
}

/** Records the events of a node's engines from `listen` to `stop`. */
export class FilterEvents {
  #steps = new Backlog<BlockStep>()
  #transactions = new Backlog<Hex>()
  readonly #events: CurrentEngine['events']
  readonly #listeners: FilterEventListeners
  #unsubscribe: (() => void) | undefined

  constructor({ events }: Pick<CurrentEngine, 'events'>, listeners: FilterEventListeners) {
    this.#events = events
    this.#listeners = listeners
  }

  /** The changes of the chain; a new backlog after `stop`, and after another chain was put in place. */
  get steps(): Backlog<BlockStep> {
    return this.#steps
  }

  get transactions(): Backlog<Hex> {
    return this.#transactions
  }

  /** How many events are kept. */
  get size(): number {
    const { steps, transactions } = this
    return steps.end - steps.start + transactions.end - transactions.start
  }

  /** Records from now on, if it does not already. */
  listen(): void {
    if (this.#unsubscribe !== undefined) return
    const stops = [
      this.#events.on('chain', (update) => this.#onChain(update)),
      this.#events.on('pool', (update) => this.#onPool(update)),
      this.#events.on('replaced', () => {
        this.#clear()
        this.#listeners.replaced()
      }),
    ]
    this.#unsubscribe = () => {
      for (const stop of stops) stop()
    }
  }

  /** Drops all events and records no more. */
  stop(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#clear()
  }

  #clear(): void {
    this.#steps = new Backlog<BlockStep>()
    this.#transactions = new Backlog<Hex>()
  }

  #onChain(update: ChainUpdate): void {
    const head = headAfter(update)
    if (head === undefined) return
    for (const { block, removed } of chainSteps(update)) {
      const { number, logsBloom } = block.block.header
      this.#steps.push({ hash: block.hash, number, logsBloom, removed, head, ...(removed && { block }) })
    }
    this.#listeners.recorded()
  }

  #onPool({ added }: PoolUpdate): void {
    for (const { hash } of added) this.#transactions.push(hash)
    this.#listeners.recorded()
  }
}
