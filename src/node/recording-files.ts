/** The files that a node writes when it closes: what it recorded, for whoever puts the files of several processes together. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Engine } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { CoverageReport } from '../engine/recording/model.ts'
import { type Recordings, RUN_KINDS, type RunKind } from '../engine/recording/recordings.ts'
import type { GasReport } from '../gas/model.ts'
import type { Logger } from '../logger.ts'
import type { ResolvedNodeOptions } from '../options/options.ts'
import { diskFiles, writeWhole } from '../store/files.ts'

type Options = Pick<ResolvedNodeOptions, 'coverage' | 'coverageDir' | 'gasDir'>

/** The reports of a node; its engine may have been replaced. */
export function reportsOf(holder: CurrentEngine): {
  coverage(): Promise<CoverageReport>
  gas(): Promise<GasReport>
} {
  return {
    coverage: () => holder.engine.coverage.report(),
    gas: () => holder.engine.gas.report(),
  }
}

/** Starts the recordings that the options ask for. */
export function startRecordings(recordings: Recordings, { coverage, coverageDir, gasDir }: Options): void {
  const asked: ReadonlySet<string> = new Set(coverage)
  const named = RUN_KINDS.filter((kind) => asked.has(kind))
  const kinds: readonly RunKind[] = named.length === 0 && coverageDir !== undefined ? RUN_KINDS : named
  if (kinds.length > 0) recordings.startCoverage(kinds)
  if (gasDir !== undefined) recordings.startGas()
}

/**
 * A node that records closes: the last of those that share the recordings writes what was recorded to new files, and forgets it. A
 * folder that cannot be written is logged.
 */
export async function closeRecordings(
  recordings: Recordings,
  { coverage, gas }: Pick<Engine, 'coverage' | 'gas'>,
  { coverageDir, gasDir }: Options,
  logger: Logger,
): Promise<void> {
  try {
    // The sources of its chain are gone afterwards.
    await recordings.recordedGas?.settle()
    if (!recordings.release()) return
    if (coverageDir !== undefined && coverage.kinds.length > 0) {
      writeNew(coverageDir, await coverage.report())
      coverage.start(coverage.kinds)
    }
    if (gasDir !== undefined && gas.isOn) {
      writeNew(gasDir, await gas.report())
      gas.start()
    }
  } catch (error) {
    logger.error('what was recorded could not be written', { error })
  }
}

function writeNew(folder: string, content: object): void {
  diskFiles.makeFolder(folder)
  const file = diskFiles.create(join(folder, `${process.pid}-${randomUUID()}.json`))
  try {
    writeWhole(file, Buffer.from(JSON.stringify(content)))
  } finally {
    file.close()
  }
}
