/** A write-ahead log over files in memory, ended at any moment and opened again. */
import type { Files } from '../../src/store/files.ts'
import { openLoggedStore } from '../../src/store/logged-store.ts'
import type { Operation } from '../../src/store/table.ts'
import { FLUSHED_KEY } from '../../src/store/tables.ts'
import { systemTimers } from '../../src/store/timers.ts'
import { WriteAheadLog } from '../../src/store/write-ahead-log.ts'
import { type MemoryFiles, memoryFiles } from './memory-files.ts'
import { type MemoryLevel, memoryLevel } from './memory-level.ts'

/** Of an empty log. */
const START = { sequence: 0, segment: 0 }
/** Puts a value under a number. */
export const put = (key: number, value: Uint8Array | number): Operation => ({
  type: 'put',
  key: Uint8Array.of(key >> 8, key & 255),
  value: typeof value === 'number' ? Uint8Array.of(value) : value,
})

/** Creates a log. */
export const begin = (files: Files, fsync = false) =>
  new WriteAheadLog({ files, folder: '/log', fsync }, START)

/** Opens a database whose log is in /log. */
export const open = (files: Files, level: MemoryLevel, repair = false, onNotice?: (notice: string) => void) =>
  openLoggedStore(level, {
    files,
    timers: systemTimers,
    folder: '/log',
    place: '/',
    fsync: false,
    repair,
    onNotice,
  })

/** What the next process finds: the level with the log replayed, and what it was given. Throws as it does. */
export async function recovered(files: Files, level: MemoryLevel = memoryLevel(), repair = false) {
  const notices: string[] = []
  const store = await open(files, level, repair, (notice) => notices.push(notice))
  await store.close()
  level.values.delete(Buffer.from(FLUSHED_KEY).toString('hex'))
  return { values: level.values, notices }
}

/** A level that has these operations. */
export async function valuesOf(operations: readonly Operation[]): Promise<Map<string, Uint8Array>> {
  const level = memoryLevel()
  await level.batch(operations, { sync: false })
  return level.values
}

/** The files as a crash at this moment would leave them. */
export const crash = ({ contents }: MemoryFiles): MemoryFiles => memoryFiles(contents)
/** Paths of all files, oldest first. */
export const pathsIn = ({ contents }: MemoryFiles): string[] => [...contents.keys()].sort()
/** Path of the newest file. */
export const lastPath = (files: MemoryFiles): string => pathsIn(files).at(-1) as string
/** Content of the newest file. */
export const lastBytes = (files: MemoryFiles): Buffer => files.contents.get(lastPath(files)) as Buffer

/** The files after a crash, with other bytes in the last one. */
export function damaged(files: MemoryFiles, change: (bytes: Buffer) => Buffer): MemoryFiles {
  const copy = crash(files)
  copy.contents.set(lastPath(copy), change(Buffer.from(lastBytes(copy))))
  return copy
}

/** Flips bits of a byte. */
export function flip(bytes: Buffer, offset: number, mask = 1): Buffer {
  bytes[offset] = (bytes[offset] as number) ^ mask
  return bytes
}
