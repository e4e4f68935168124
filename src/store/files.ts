/** What the store asks of a file system, and the one of the machine. A test may put another in its place. */
import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** A file that was made by this process and grows at its end. */
export interface AppendedFile {
  /** Writes bytes at the end and reports how many of them were written: one or more, perhaps not all. */
  write(bytes: Uint8Array): number
  /** Resolves when all that was written before the call is on the medium. The file must stay open until then. */
  sync(): Promise<void>
  /** Cuts the file off at a size; what is written next follows there. */
  truncate(size: number): void
  close(): void
}

/** A file that is read in pieces. */
export interface ReadableFile {
  /** Bytes of the file when it was opened. */
  readonly size: number
  /** Reads bytes from a position on, and reports how many: 0 only at the end of the file. */
  read(into: Uint8Array, position: number): number
  close(): void
}

/**
 * A file system. Every call throws the errors of Node.js, with their `code`. What was written is seen by every process
 * at once; it survives a crash of the machine when the file was synced, and a file's name when its folder was synced.
 */
export interface Files {
  /** Makes a folder and those above it, with the access `mode` less the process's umask; no error when it exists. */
  makeFolder(path: string, mode?: number): void
  /** Names in a folder, in any order. */
  list(folder: string): readonly string[]
  /** Makes a file and opens it, with the access `mode` less the process's umask. Throws `EEXIST` when there is one. */
  create(path: string, mode?: number): AppendedFile
  openForReading(path: string): ReadableFile
  /** Replaces `to` when it exists. */
  rename(from: string, to: string): void
  remove(path: string): void
  syncFolder(path: string): Promise<void>
}

const syncData = promisify(fdatasync)
const READABLE_BY_ALL = 0o666
const OPEN_TO_ALL = 0o777

/** Makes one folder; no error when it exists. */
function makeOneFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}

/**
 * Makes a folder and those above it. The recursive form of Node.js never ends where a folder takes no entries and states
 * `ENOENT`, as those of /proc and one that was removed do.
 */
function makeFolder(path: string, mode = OPEN_TO_ALL): void {
  try {
    makeOneFolder(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    makeFolder(dirname(path), mode)
    makeOneFolder(path, mode)
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** The file system of the machine. */
export const diskFiles: Files = {
  makeFolder,
  list: (folder) => readdirSync(folder),
  create(path, mode = READABLE_BY_ALL) {
    const descriptor = openSync(path, 'ax', mode)
    return {
      write: (bytes) => writeSync(descriptor, bytes),
      sync: () => syncData(descriptor),
      truncate: (size) => ftruncateSync(descriptor, size),
      close: () => closeSync(descriptor),
    }
  },
  openForReading(path) {
    const descriptor = openSync(path, 'r')
    return {
      size: fstatSync(descriptor).size,
      read: (into, position) => readSync(descriptor, into, 0, into.length, position),
      close: () => closeSync(descriptor),
    }
  },
  rename: renameSync,
  remove: unlinkSync,
  async syncFolder(path) {
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  },
}

/** Writes all of some bytes, in as many calls as it takes. */
export function writeWhole(file: AppendedFile, bytes: Uint8Array): void {
  let written = file.write(bytes)
  while (written < bytes.length) written += file.write(bytes.subarray(written))
}

/** The whole content of a file. */
export function readWhole(files: Files, path: string): Buffer {
  const file = files.openForReading(path)
  try {
    const bytes = Buffer.allocUnsafe(file.size)
    let length = 0
    while (length < bytes.length) {
      const read = file.read(bytes.subarray(length), length)
      if (read === 0) break
      length += read
    }
    return bytes.subarray(0, length)
  } finally {
    file.close()
  }
}
