/** The disk of a simulated node, and its database on it: the log over a file system, the tables over a level. */
import { basename } from 'node:path'
import { CHAINS } from '../../src/chain/config.ts'
import { isDraft } from '../../src/store/atomic-file.ts'
import { journalOf, openChecked } from '../../src/store/checked-level.ts'
import { openLoggedStore } from '../../src/store/logged-store.ts'
import { systemTimers } from '../../src/store/timers.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { SimulatedDisk } from './file-system.ts'
import { LevelFiles } from './level.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

const DATA = '/data'
const IDENTITY = { chain: 'regtest', chainId: CHAINS.regtest.chainId } as const
/** Small, so that files are begun and batches split. */
const LOG = { segmentBytes: 5_000, pieceBytes: 2_000 }

/** How a database is opened. */
interface OpenOptions {
  readonly fsync: boolean
  /** Before each call of the file system: does the process end in it? */
  readonly fuse?: () => boolean
  readonly repair?: boolean
  readonly onNotice?: (sentence: string) => void
}

/** It outlives the processes that open the database. */
export class NodeDisk {
  readonly files: SimulatedDisk
  readonly level: LevelFiles

  constructor(world: World) {
    this.files = new SimulatedDisk(world)
    this.level = new LevelFiles(this.files)
  }

  /** Opens the database as a part of a process: held against its checkpoint, behind its log. */
  open(process: SimulatedProcess, { fuse, ...options }: OpenOptions): Promise<Store> {
    const directory = {
      dataDir: DATA,
      identity: IDENTITY,
      files: this.files.filesOf(process, fuse ?? (() => false)),
      timers: systemTimers,
      raiseFormat: async () => {},
    }
    return openChecked(directory, this.level.open(process), [], { ...options, ...LOG })
  }

  /** The same without checkpoints. */
  openLog(process: SimulatedProcess, options: Pick<OpenOptions, 'fsync' | 'repair'>): Promise<Store> {
    return openLoggedStore(this.level.open(process), {
      ...options,
      ...LOG,
      files: this.files.filesOf(process, () => false),
      folder: journalOf(DATA),
      place: DATA,
      timers: systemTimers,
    })
  }

  /** The machine ends. */
  losePower(): void {
    this.files.losePower()
    this.level.losePower()
  }

  /** Turns around a bit of the log, or of the checkpoint. */
  damage(): string | undefined {
    return this.files.flipBit(this.files.paths.filter((path) => !isDraft(basename(path))))
  }
}
