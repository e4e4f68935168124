/** The disk of a simulated node, and its database on it: the log over a file system, the tables over a level. */
import { openLoggedStore } from '../../src/store/logged-store.ts'
import { systemTimers } from '../../src/store/timers.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { SimulatedDisk } from './file-system.ts'
import { LevelFiles } from './level.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

const FOLDER = '/data/journal'

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

  /** Opens the database as a part of a process. */
  open(process: SimulatedProcess, options: OpenOptions): Promise<Store> {
    const { fsync, fuse = () => false, repair, onNotice } = options
    return openLoggedStore(this.level.open(process), {
      files: this.files.filesOf(process, fuse),
      folder: FOLDER,
      place: '/data',
      fsync,
      timers: systemTimers,
      repair,
      onNotice,
      segmentBytes: 5_000,
      pieceBytes: 2_000,
    })
  }

  /** The machine ends. */
  losePower(): void {
    this.files.losePower()
    this.level.losePower()
  }

  /** Turns around a bit of the log. */
  damage(): string | undefined {
    return this.files.flipBit(this.files.paths)
  }
}
