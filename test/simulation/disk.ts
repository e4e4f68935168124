/** The disk of a simulated node, and its database on it: the log over a file system, the tables over a level. */
import { basename } from 'node:path'
import { CHAINS } from '../../src/chain/config.ts'
import { isDraft } from '../../src/store/atomic-file.ts'
import { type Directory, journalOf, openChecked } from '../../src/store/checked-level.ts'
import { noteRepair } from '../../src/store/checkpoint.ts'
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
  open(process: SimulatedProcess, { fuse, fsync }: OpenOptions): Promise<Store> {
    return openChecked(this.#directory(process, fuse), this.level.open(process), [], { fsync, ...LOG })
  }

  /** Repairs the database as `tandem verify --repair` does. */
  async repair(
    process: SimulatedProcess,
    fuse: () => boolean,
    onNotice: (sentence: string) => void,
  ): Promise<void> {
    const directory = this.#directory(process, fuse)
    const { dataDir, identity, files } = directory
    const options = { fsync: true, repair: true, onNotice, ...LOG }
    await noteRepair(dataDir, identity, true, files)
    const store = await openChecked(directory, this.level.open(process), [], options)
    await store.close()
    await noteRepair(dataDir, identity, false, files)
  }

  #directory(process: SimulatedProcess, fuse = () => false): Directory {
    return {
      dataDir: DATA,
      identity: IDENTITY,
      files: this.files.filesOf(process, fuse),
      timers: systemTimers,
      raiseFormat: async () => {},
    }
  }

  /** The same without checkpoints. */
  openLog(process: SimulatedProcess, options: { fsync: boolean; repair?: boolean }): Promise<Store> {
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
