/** Coverage and gas as the rest of the node uses them. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { CoverageMap } from '../../coverage/model.ts'
import type { GasReport } from '../../gas/model.ts'
import type { RunKind } from './recordings.ts'

/** The coverage of the sources that a node knows. */
export interface CoverageReport {
  readonly files: CoverageMap
  /** What is missing, each in a sentence. */
  readonly notes: readonly string[]
}

/** Records which code runs. */
export interface Coverage {
  /** What is recorded; empty while it is off. */
  readonly kinds: readonly RunKind[]
  /** Records from now on; what was recorded before is forgotten. */
  start(kinds: readonly RunKind[]): void
  /** Records no more; the report stays. */
  stop(): void
  /** What has run since the start, by the sources that are known now. */
  report(): Promise<CoverageReport>
}

/** Records where the transactions of blocks spend gas. */
export interface Gas {
  readonly isOn: boolean
  /** Records from now on; what was recorded before is forgotten. */
  start(): void
  /** Records no more; the report stays. */
  stop(): void
  /** The gas of all blocks that joined the chain since the start, also of those that are no longer on it. */
  report(): Promise<GasReport>
  /** Runs the transaction at an index of a block again. Throws as a replay does. */
  ofTransaction(block: ExecutedBlock, index: number, timeoutMs?: number): Promise<GasReport>
}
