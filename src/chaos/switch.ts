/** Whether chaos is set on a node. The rest of this folder is loaded when it is set for the first time. */
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { IntervalTimer } from '../engine/mining/schedule.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { ActiveChaos } from './model.ts'

/** What chaos acts on. */
export interface ChaosSwitchParts {
  readonly node: CurrentEngine
  readonly logger: Logger
  /** Is this the name of a method that is open on the node? */
  isOpen(method: string): boolean
  /** The seed of chaos that is set without one. */
  newSeed(): string
  /** Starts timers; those of the process unless given. */
  readonly startTimer?: IntervalTimer | undefined
  /** Why chaos cannot be set on this node. */
  readonly refusal?: string | undefined
}

/** The switch of one node. */
export class ChaosSwitch {
  readonly #parts: ChaosSwitchParts
  #current: ActiveChaos | undefined
  /** Changes run one after another. */
  #changing: Promise<unknown> = Promise.resolve()

  constructor(parts: ChaosSwitchParts) {
    this.#parts = parts
  }

  /** What is set; `undefined` while it is off. */
  get current(): ActiveChaos | undefined {
    return this.#current
  }

  /**
   * Sets a plan or the name of a profile, from the beginning of its seed; null turns chaos off. Throws `invalid-params` with
   * the path of the member of a plan that does not fit; what was set stays.
   */
  set(given: unknown, seed?: string): Promise<ActiveChaos | undefined> {
    const changed = this.#changing.then(() => this.#set(given, seed))
    this.#changing = changed.catch(() => {})
    return changed
  }

  /** Begins what is set again, with the first decision of its seed. */
  async restart(): Promise<void> {
    const { plan, seed } = this.#current ?? {}
    if (plan !== undefined) await this.set(plan, seed)
  }

  async #set(given: unknown, seed: string | undefined): Promise<ActiveChaos | undefined> {
    const { refusal, node, logger, startTimer } = this.#parts
    if (given === null) return this.#replace(() => undefined)
    if (refusal !== undefined) throw new NodeError('invalid-params', refusal)
    const [{ Chaos }, { planOf }] = await Promise.all([import('./chaos.ts'), import('./profiles.ts')])
    const plan = planOf(given)
    const isOpen = (method: string) => this.#parts.isOpen(method)
    const parts = { plan, seed: seed ?? this.#parts.newSeed(), node, logger, isOpen, startTimer }
    return this.#replace(() => new Chaos(parts))
  }

  /** Ends with the node. */
  async close(): Promise<void> {
    await this.#changing
    await this.#current?.close(true)
    this.#current = undefined
  }

  async #replace(make: () => ActiveChaos | undefined): Promise<ActiveChaos | undefined> {
    const before = this.#current
    this.#current = undefined
    await before?.close()
    this.#current = make()
    const { logger } = this.#parts
    if (this.#current !== undefined) logger.info('chaos is set', { seed: this.#current.seed })
    else if (before !== undefined) logger.info('chaos is off')
    return this.#current
  }
}
