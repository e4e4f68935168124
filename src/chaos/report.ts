/** What was done to whom: in the header of a reply, a line of the log, and counts for the metrics. */
import type { Logger } from '../logger.ts'

/** The faults of chaos by the names under which they are counted. */
export type FaultName =
  | 'latency'
  | 'status'
  | 'drop'
  | 'stall'
  | 'truncate'
  | 'stale'
  | 'receipt'
  | 'gas-price'
  | 'never-mined'
  | 'forgotten'
  | 'repriced'
  | 'cancelled'
  | 'late-block'
  | 'empty-block'
  | 'full-block'
  | 'reordered-block'
  | 'reorganisation'
  | 'lost-transaction'
  | 'gap'
  | 'duplicate'
  | 'log-limit'
  | 'batch-limit'
  | 'body-limit'

/** The caller that a fault is about; absent for one of the chain. */
export interface Affected {
  /** The transport of its session. */
  readonly label: string
  readonly requestId?: string | undefined
  /** Adds to the header of the reply; absent where replies have none. */
  noteChaos?(what: string): void
}

/** Reports the faults of one chaos. */
export class ChaosReport {
  readonly #logger: Logger
  readonly #counts = new Map<FaultName, number>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Faults since it was set, by name. */
  get counts(): ReadonlyMap<FaultName, number> {
    return this.#counts
  }

  /** @param detail of the fault, such as `3 blocks` */
  add(fault: FaultName, detail: string | number, about: string, affected?: Affected): void {
    this.#counts.set(fault, (this.#counts.get(fault) ?? 0) + 1)
    affected?.noteChaos?.(`${fault}=${detail}`)
    this.#logger.info(`chaos: ${fault}=${detail}`, {
      about,
      ...(affected && { session: affected.label }),
      ...(affected?.requestId !== undefined && { request: affected.requestId }),
    })
  }
}
