/**
 * A disk, and the file system of a process on it. What was written is seen at once and is on the medium when it was synced;
 * at power loss any part of the rest is on the medium, in pieces of a sector. Calls fail, write less than they are given,
 * and the process may end within any of them.
 */
import { basename, dirname } from 'node:path'
import type { AppendedFile, Files, ReadableFile } from '../../src/store/files.ts'
import type { SimulatedProcess } from './process.ts'
import { Violation, type World } from './world.ts'

const SECTOR = 512

/** What goes wrong, each in one of so many calls; `undefined` never does. */
export interface DiskFaults {
  readonly shortWrite?: number | undefined
  readonly failedWrite?: number | undefined
  readonly failedSync?: number | undefined
  /** Of truncations, folders, names. */
  readonly failedOther?: number | undefined
  /** Bytes that the disk holds. */
  readonly capacity: number
}

/** Nothing goes wrong. */
export const NO_FAULTS: DiskFaults = { capacity: Number.POSITIVE_INFINITY }

/** A process that ends in the middle of a call throws it; nobody is left to catch it. */
export class ProcessEnded extends Error {}

/** An error of the system as Node.js throws it. */
export function systemError(code: 'ENOSPC' | 'EIO' | 'ENOENT' | 'EEXIST' | 'EBADF', call: string): Error {
  const texts = {
    ENOSPC: 'no space left on device',
    EIO: 'i/o error',
    ENOENT: 'no such file or directory',
    EEXIST: 'file already exists',
    EBADF: 'bad file descriptor',
  }
  return Object.assign(new Error(`${code}: ${texts[code]}, ${call}`), { code })
}

/** The content of a file. */
class Content {
  /** As processes see it, and as it is on the medium. */
  bytes = Buffer.alloc(0)
  stored = Buffer.alloc(0)
  /** Sectors that the medium lacks. */
  readonly dirty = new Set<number>()

  write(bytes: Uint8Array): void {
    this.#mark(this.bytes.length, this.bytes.length + bytes.length)
    this.bytes = Buffer.concat([this.bytes, bytes])
  }

  truncate(size: number): void {
    this.#mark(Math.min(size, this.bytes.length), Math.max(size, this.bytes.length))
    this.bytes = Buffer.from(this.bytes.subarray(0, size))
  }

  sync(bytes: Buffer): void {
    this.stored = Buffer.from(bytes)
    if (bytes === this.bytes) this.dirty.clear()
  }

  /** What the medium has after the power was lost: of each dirty sector either state, and of the size as well. */
  lose(random: World['random']): void {
    if (this.dirty.size > 0 || this.bytes.length !== this.stored.length) {
      const size = random.oneIn(2)
        ? this.bytes.length
        : random.oneIn(2)
          ? this.stored.length
          : this.#between(random)
      const next = Buffer.alloc(size)
      this.stored.copy(next)
      for (const sector of this.dirty) {
        if (sector * SECTOR >= this.bytes.length || random.oneIn(2)) continue
        this.bytes.copy(next, sector * SECTOR, sector * SECTOR, (sector + 1) * SECTOR)
      }
      this.bytes = next
    }
    this.stored = Buffer.from(this.bytes)
    this.dirty.clear()
  }

  #between(random: World['random']): number {
    const [low, high] = [this.stored.length, this.bytes.length].sort((a, b) => a - b) as [number, number]
    return low + random.below(high - low + 1)
  }

  #mark(from: number, to: number): void {
    for (let sector = Math.floor(from / SECTOR); sector * SECTOR < to; sector++) this.dirty.add(sector)
  }
}

/** A change of the names of files. */
type NameChange = (names: Map<string, Content>) => void

/** A disk, which outlives processes. */
export class SimulatedDisk {
  readonly world: World
  faults = NO_FAULTS
  /** Files by path as processes see them, and as they are on the medium but for `#pending`, oldest first. */
  #names = new Map<string, Content>()
  #stored = new Map<string, Content>()
  #pending: { readonly folder: string; readonly change: NameChange }[] = []

  constructor(world: World) {
    this.world = world
  }

  /** Paths of all files. */
  get paths(): string[] {
    return [...this.#names.keys()].sort()
  }

  content(path: string): Content | undefined {
    return this.#names.get(path)
  }

  get used(): number {
    let used = 0
    for (const { bytes } of this.#names.values()) used += bytes.length
    return used
  }

  rename(folder: string, change: NameChange): void {
    change(this.#names)
    this.#pending.push({ folder, change })
  }

  syncNames(folder: string, count: number): void {
    const due = this.#pending.slice(0, count).filter((pending) => pending.folder === folder)
    for (const { change } of due) change(this.#stored)
    this.#pending = this.#pending.filter((pending) => !due.includes(pending))
  }

  get pendingNames(): number {
    return this.#pending.length
  }

  /** The machine ends: names are those of the medium and of the first changes that were on their way. */
  losePower(): void {
    const { random } = this.world
    for (const { change } of this.#pending.slice(0, random.below(this.#pending.length + 1)))
      change(this.#stored)
    this.#pending = []
    this.#names = new Map(this.#stored)
    for (const content of this.#names.values()) content.lose(random)
    this.world.note('the power is lost')
  }

  /** Turns one bit of a file around; `undefined` when all are empty. */
  flipBit(paths: readonly string[]): string | undefined {
    const { random } = this.world
    const path = random.pick(paths.filter((each) => (this.#names.get(each)?.bytes.length ?? 0) > 0))
    const content = this.#names.get(path)
    if (content === undefined) return undefined
    const [at, bit] = [random.below(content.bytes.length), random.below(8)]
    for (const bytes of new Set([content.bytes, content.stored])) {
      if (at < bytes.length) bytes[at] = (bytes[at] as number) ^ (1 << bit)
    }
    this.world.note(`bit ${bit} of byte ${at} of ${path} turns around`)
    return path
  }

  /** The file system of a process; `fuse` counts down its calls, in the last of which it ends. */
  filesOf(process: SimulatedProcess, fuse: () => boolean): Files {
    return createFiles(this, process, fuse)
  }
}

/** The name of a file; of a draft without the part that chance gives it. */
const nameOf = (path: string) => basename(path).replace(/\.[0-9a-f]{12}\.draft$/, '.draft')

function createFiles(disk: SimulatedDisk, process: SimulatedProcess, fuse: () => boolean): Files {
  const { world } = disk
  const { random } = world
  const end = (): never => {
    if (!process.isDead) process.kill()
    throw new ProcessEnded('the process has ended')
  }
  /** Before a call: is this the one in which the process ends? */
  const isLast = (): boolean => {
    if (process.isDead) end()
    return fuse()
  }
  const fails = (cases: number | undefined): boolean => cases !== undefined && random.oneIn(cases)
  const refuse = (code: 'ENOSPC' | 'EIO', call: string): never => {
    world.note(`${call}: ${code}`)
    throw systemError(code, call)
  }
  /** A call that is carried out whole or not at all. */
  const whole = <T>(call: string, act: () => T): T => {
    world.note(call)
    const last = isLast()
    if (fails(disk.faults.failedOther)) refuse('EIO', call)
    if (last && random.oneIn(2)) end()
    const result = act()
    return last ? end() : result
  }
  const find = (path: string): Content => {
    const content = disk.content(path)
    if (content === undefined) throw systemError('ENOENT', `open '${path}'`)
    return content
  }
  const after = (step: () => void): Promise<void> =>
    new Promise((resolve, reject) => {
      world.after(random.oneIn(8) ? random.below(200) : 0.1 + random.below(40) / 10, process, () => {
        try {
          step()
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })

  function appended(path: string, content: Content): AppendedFile {
    let isOpen = true
    let syncing = 0
    const requireOpen = (call: string) => {
      if (!isOpen) throw new Violation(`${call} of ${path}, which is closed`)
    }
    return {
      write(bytes) {
        requireOpen('write')
        const last = isLast()
        if (fails(disk.faults.failedWrite)) refuse('EIO', `write ${nameOf(path)}`)
        const room = Math.max(0, disk.faults.capacity - disk.used)
        const isShort = last || fails(disk.faults.shortWrite)
        const size = Math.min(room, isShort ? random.below(bytes.length) + 1 : bytes.length)
        if (size === 0) refuse('ENOSPC', `write ${nameOf(path)}`)
        content.write(bytes.subarray(0, size))
        world.note(`write ${size} of ${bytes.length} bytes to ${nameOf(path)}`)
        return last ? end() : size
      },
      async sync() {
        requireOpen('sync')
        if (isLast()) end()
        const { bytes } = content
        syncing++
        await after(() => {
          syncing--
          requireOpen('sync')
          if (fails(disk.faults.failedSync)) {
            // The system forgets what it could not write: a later sync does not bring it to the medium.
            content.dirty.clear()
            refuse('EIO', `fdatasync ${nameOf(path)}`)
          }
          content.sync(bytes)
        })
      },
      truncate(size) {
        requireOpen('truncate')
        whole(`ftruncate ${nameOf(path)}`, () => content.truncate(size))
      },
      close() {
        requireOpen('close')
        if (isLast()) end()
        if (syncing > 0) throw new Violation(`${path} is closed while it is synced`)
        isOpen = false
      },
    }
  }

  function readable(content: Content): ReadableFile {
    return {
      size: content.bytes.length,
      read: (into, position) => content.bytes.copy(into, 0, position),
      close: () => {},
    }
  }

  return {
    makeFolder: () => void isLast(),
    list: (folder) => disk.paths.filter((path) => dirname(path) === folder).map((path) => basename(path)),
    create(path) {
      if (disk.content(path) !== undefined) throw systemError('EEXIST', `open '${path}'`)
      if (disk.used >= disk.faults.capacity) refuse('ENOSPC', `open ${nameOf(path)}`)
      return whole(`open ${nameOf(path)}`, () => {
        const content = new Content()
        disk.rename(dirname(path), (names) => names.set(path, content))
        return appended(path, content)
      })
    },
    openForReading: (path) => readable(find(path)),
    rename(from, to) {
      const content = find(from)
      whole(`rename ${nameOf(from)}`, () =>
        disk.rename(dirname(from), (names) => {
          names.delete(from)
          names.set(to, content)
        }),
      )
    },
    remove(path) {
      find(path)
      whole(`unlink ${nameOf(path)}`, () => disk.rename(dirname(path), (names) => names.delete(path)))
    },
    async syncFolder(path) {
      if (isLast()) end()
      const count = disk.pendingNames
      await after(() => {
        if (fails(disk.faults.failedSync)) refuse('EIO', 'fsync folder')
        disk.syncNames(path, count)
      })
    },
  }
}
