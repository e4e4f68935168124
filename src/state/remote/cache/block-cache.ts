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
import { type BlockMemory, createBlockMemory } from './block-memory.ts'
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
  /** Takes records over: into memory at once, to disk soon. */
  put(records: readonly CacheRecord[]): void
}

/** The blocks of one network's cache. */
export interface RemoteCache {
  /** What is known of a block; its files are read at the first time. */
  block(id: RemoteBlockId): Promise<BlockCache>
  /** The same of a block whose files were read lately. */
  loaded(hash: Hex): BlockCache | undefined
  /** Writes nothing from now on; the notice has the reason. */
  stop(why: string): void
  /** Resolves once everything is written. */
  close(): Promise<void>
}

/** Where the files are, and how many bytes they may have. */
export interface CacheLimits {
  readonly root: string
  readonly chainId: number
  /** Of the URLs that answer. */
  readonly scope: string
  readonly bytes: number
}

interface Entry extends BlockCache {
  readonly hash: Hex
  /** `undefined`: in memory alone. */
  readonly folder: string | undefined
  /** The file that this process appends to, once it has written something. */
  path: string | undefined
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

/** Reads the files of a folder into memory; those that are corrupt or foreign are put aside, what was read of them stays. */
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

/** What the files of a block's folder hold, as they are; those that cannot be read are passed over. */
export async function readCached(path: string, subject: FileSubject): Promise<BlockMemory> {
  const memory = createBlockMemory()
  for (const name of await namesIn(path)) {
    if (!RECORD_FILE.test(name)) continue
    for (const record of readFileContent(await readFile(join(path, name)), subject).records)
      memory.put(record)
  }
  return memory
}

/** A cache in memory, and in files where `limits` are given. Notices of files that cannot be used go to `deps`. */
export function createRemoteCache(limits: CacheLimits | undefined, deps: RemoteDeps): RemoteCache {
  const entries = new RecentMap<Hex, Entry>(KEPT_BLOCKS)
  const loading = new RecentMap<Hex, Promise<Entry>>(KEPT_BLOCKS)
  const folders = new Set<string>()
  let writing: Promise<void> = Promise.resolve()
  let bytes: number | undefined
  let isStopped = limits === undefined

  function stop(why: string): void {
    if (isStopped) return
    isStopped = true
    deps.notice(`The cache of the fork is not written any more: ${why}.`)
  }

  /** Makes room for so many bytes; false where there is none. */
  async function hasRoom(added: number): Promise<boolean> {
    if (limits === undefined) return false
    bytes ??= await limitCache(limits.root, limits.bytes, folders)
    if (bytes + added > limits.bytes) {
      bytes = await limitCache(limits.root, Math.max(0, limits.bytes - added), folders)
    }
    if (bytes + added > limits.bytes) return false
    bytes += added
    return true
  }

  async function append(entry: Entry, records: readonly CacheRecord[]): Promise<void> {
    const { folder } = entry
    if (isStopped || folder === undefined || limits === undefined) return
    const subject = { hash: entry.hash, scope: limits.scope }
    try {
      const frame = encodeFrame(subject, records)
      const isFirst = entry.path === undefined
      const added = isFirst ? concat(fileHead(subject), frame) : frame
      if (!(await hasRoom(added.length))) {
        stop(`it would exceed ${limits.bytes} bytes (--fork-cache-size)`)
        return
      }
      if (isFirst) await useFolder(folder, deps.clock.now())
      entry.path ??= join(folder, newFileName())
      await appendFile(entry.path, added)
    } catch (error) {
      stop(messageOf(error))
    }
  }

  /** One file in place of many: written whole before the others are removed. */
  async function joinFiles(entry: Entry, ended: readonly string[]): Promise<void> {
    await append(entry, [...entry.memory.records()])
    if (!isStopped) await Promise.all(ended.map((path) => rm(path, { force: true })))
  }

  function enqueue(task: () => Promise<void>): void {
    writing = writing.then(task)
  }

  async function load(id: RemoteBlockId): Promise<Entry> {
    const memory = createBlockMemory()
    const folder = limits && blockFolder(limits.root, limits.chainId, id, limits.scope)
    const entry: Entry = {
      hash: id.hash,
      memory,
      folder,
      path: undefined,
      put(records) {
        const added = records.filter((record) => memory.put(record))
        if (added.length > 0 && !isStopped) enqueue(() => append(entry, added))
      },
    }
    if (limits !== undefined && folder !== undefined) {
      folders.add(folder)
      await read(entry, folder, limits.scope)
    }
    entries.set(id.hash, entry)
    return entry
  }

  async function read(entry: Entry, folder: string, scope: string): Promise<void> {
    try {
      const subject = { hash: entry.hash, scope }
      const { toSave, ended, isThere } = await readFolder(folder, subject, entry.memory, deps)
      if (isThere) await useFolder(folder, deps.clock.now())
      if (ended.length > FILES_TO_JOIN) enqueue(() => joinFiles(entry, ended))
      else if (toSave.length > 0) enqueue(() => append(entry, toSave))
    } catch (error) {
      deps.notice(`The cache in ${folder} cannot be read: ${messageOf(error)}.`)
    }
  }

  return {
    block(id) {
      let loaded = loading.get(id.hash)
      if (loaded === undefined) {
        loaded = load(id)
        loading.set(id.hash, loaded)
      }
      return loaded
    },
    loaded: (hash) => entries.get(hash),
    stop,
    async close() {
      await writing
      isStopped = true
    },
  }
}
