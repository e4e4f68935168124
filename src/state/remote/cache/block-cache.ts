/** What is known about a block, in memory and in the files of the cache. */

import { randomBytes } from 'node:crypto'
import { appendFile, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { concat } from '../../../encoding/bytes.ts'
import type { Hex } from '../../../encoding/hex.ts'
import { messageOf } from '../../../errors.ts'
import type { RemoteDeps } from '../../../upstream/environment.ts'
import { RecentMap } from '../../recent-map.ts'
import type { RemoteBlockId } from '../model.ts'
import { BlockMemory } from './block-memory.ts'
import {
  blockFolder,
  FILE_SUFFIX,
  limitCache,
  namesIn,
  putAside,
  RECORD_FILE,
  useFolder,
} from './cache-directory.ts'
import { type CacheRecord, encodeFrame, type FileSubject, fileHead, readFileContent } from './records.ts'

/** More files than these of processes that ended are joined into one. */
const FILES_TO_JOIN = 8
/** Blocks kept in memory. */
const KEPT_BLOCKS = 256
/** A file changed less than this ago may belong to a process of another machine or container; milliseconds. */
const MAYBE_IN_USE_MS = 600_000

/** What is known of one block. */
export interface BlockCache {
  readonly memory: BlockMemory
  /** Adds records: to memory at once, to disk soon. */
  put(records: readonly CacheRecord[]): void
}

/** Where the files are, and how many bytes they may take. */
export interface CacheLimits {
  readonly root: string
  readonly chainId: number
  /** Of the URLs that answer. */
  readonly scope: string
  readonly bytes: number
}

/** A folder of a block, as files of one scope. */
interface Folder {
  readonly path: string
  readonly subject: FileSubject
  /** The file that this process appends to, once it has written something. */
  file: string | undefined
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The name of a new file of records of this process. */
export const newFileName = (): string => `${process.pid}-${randomBytes(6).toString('hex')}${FILE_SUFFIX}`

/** Reads the files of a folder into memory. Corrupt and foreign files are put aside; the records read from them stay. */
async function readFolder(
  folder: string,
  subject: FileSubject,
  memory: BlockMemory,
  { notice, clock }: RemoteDeps,
): Promise<{ readonly toSave: CacheRecord[]; readonly ended: string[]; readonly isThere: boolean }> {
  const toSave: CacheRecord[] = []
  const ended: string[] = []
  const names = await namesIn(folder)
  for (const name of names) {
    const [, pid] = RECORD_FILE.exec(name) ?? []
    if (pid === undefined) continue
    const path = join(folder, name)
    try {
      const { records, state } = readFileContent(await readFile(path), subject)
      const added = records.filter((record) => memory.put(record))
      if (state === 'corrupt' || state === 'foreign') {
        notice(`The cache file ${path} is ${state}; it was put aside, and what it held is fetched again.`)
        await putAside(path)
        toSave.push(...added)
      } else if (!isRunning(Number(pid)) && clock.now() - (await stat(path)).mtimeMs > MAYBE_IN_USE_MS) {
        ended.push(path)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return { toSave, ended, isThere: names.length > 0 }
}

/** What the files of a block's folder hold. Files that cannot be decoded are skipped, and no file is changed. */
export async function readCached(path: string, subject: FileSubject): Promise<BlockMemory> {
  const memory = new BlockMemory()
  for (const name of await namesIn(path)) {
    if (!RECORD_FILE.test(name)) continue
    for (const record of readFileContent(await readFile(join(path, name)), subject).records)
      memory.put(record)
  }
  return memory
}

/** The blocks of one network's cache: in memory, and in files where `limits` are given. Notices go to `deps`. */
export class RemoteCache {
  readonly #limits: CacheLimits | undefined
  readonly #deps: RemoteDeps
  readonly #loaded = new RecentMap<Hex, BlockCache>(KEPT_BLOCKS)
  readonly #loading = new RecentMap<Hex, Promise<BlockCache>>(KEPT_BLOCKS)
  readonly #folders = new Set<string>()
  #writing: Promise<void> = Promise.resolve()
  #bytes: number | undefined
  #isStopped: boolean

  constructor(limits: CacheLimits | undefined, deps: RemoteDeps) {
    this.#limits = limits
    this.#deps = deps
    this.#isStopped = limits === undefined
  }

  /** What is known of a block; its files are read the first time. */
  block(id: RemoteBlockId): Promise<BlockCache> {
    let loading = this.#loading.get(id.hash)
    if (loading === undefined) {
      loading = this.#load(id)
      this.#loading.set(id.hash, loading)
    }
    return loading
  }

  /** The same of a block whose files were read lately. */
  loaded(hash: Hex): BlockCache | undefined {
    return this.#loaded.get(hash)
  }

  /** Writes nothing from now on; the notice has the reason. */
  stop(why: string): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#deps.notice(`The cache of the fork is not written any more: ${why}.`)
  }

  /** Resolves once everything is written. */
  async close(): Promise<void> {
    await this.#writing
    this.#isStopped = true
  }

  async #load(id: RemoteBlockId): Promise<BlockCache> {
    const memory = new BlockMemory()
    const folder = this.#folderOf(id)
    if (folder !== undefined) {
      this.#folders.add(folder.path)
      await this.#read(folder, memory)
    }
    const loaded: BlockCache = {
      memory,
      put: (records) => {
        const added = records.filter((record) => memory.put(record))
        if (added.length > 0 && folder !== undefined && !this.#isStopped)
          this.#enqueue(() => this.#append(folder, added))
      },
    }
    this.#loaded.set(id.hash, loaded)
    return loaded
  }

  #folderOf(id: RemoteBlockId): Folder | undefined {
    if (this.#limits === undefined) return undefined
    const { root, chainId, scope } = this.#limits
    return {
      path: blockFolder(root, chainId, id, scope),
      subject: { hash: id.hash, scope },
      file: undefined,
    }
  }

  async #read(folder: Folder, memory: BlockMemory): Promise<void> {
    const { path, subject } = folder
    try {
      const { toSave, ended, isThere } = await readFolder(path, subject, memory, this.#deps)
      if (isThere) await useFolder(path, this.#deps.clock.now())
      if (ended.length > FILES_TO_JOIN) this.#enqueue(() => this.#joinFiles(folder, memory, ended))
      else if (toSave.length > 0) this.#enqueue(() => this.#append(folder, toSave))
    } catch (error) {
      this.#deps.notice(`The cache in ${path} cannot be read: ${messageOf(error)}.`)
    }
  }

  #enqueue(task: () => Promise<void>): void {
    this.#writing = this.#writing.then(task)
  }

  /** Writes one file in place of many. It is complete before the others are removed. */
  async #joinFiles(folder: Folder, memory: BlockMemory, ended: readonly string[]): Promise<void> {
    await this.#append(folder, [...memory.records()])
    if (!this.#isStopped) await Promise.all(ended.map((path) => rm(path, { force: true })))
  }

  async #append(folder: Folder, records: readonly CacheRecord[]): Promise<void> {
    const { path, subject } = folder
    if (this.#isStopped || this.#limits === undefined) return
    try {
      const frame = encodeFrame(subject, records)
      const isFirst = folder.file === undefined
      const added = isFirst ? concat(fileHead(subject), frame) : frame
      if (!(await this.#reserve(added.length, this.#limits))) {
        this.stop(`it would exceed ${this.#limits.bytes} bytes (--fork-cache-size)`)
        return
      }
      if (isFirst) await useFolder(path, this.#deps.clock.now())
      folder.file ??= join(path, newFileName())
      await appendFile(folder.file, added)
    } catch (error) {
      this.stop(messageOf(error))
    }
  }

  /** Makes room for so many bytes, and counts them; false where there is none. */
  async #reserve(added: number, { root, bytes: most }: CacheLimits): Promise<boolean> {
    let bytes = this.#bytes ?? (await limitCache(root, most, this.#folders))
    if (bytes + added > most) bytes = await limitCache(root, Math.max(0, most - added), this.#folders)
    const isRoom = bytes + added <= most
    this.#bytes = isRoom ? bytes + added : bytes
    return isRoom
  }
}
