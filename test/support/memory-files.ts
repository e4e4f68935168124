/** A file system in memory whose calls fail on request. */
import { basename, dirname } from 'node:path'
import type { AppendedFile, Files } from '../../src/store/files.ts'

/** The part of it that a test uses. */
export interface MemoryFiles extends Files {
  /** Contents by path. */
  readonly contents: Map<string, Buffer>
  /** Asked before each call that changes something, or syncs; what it returns is thrown. */
  refuse: (call: keyof AppendedFile | keyof Files, path: string) => Error | undefined
}

/** An error of the system as Node.js throws it. */
export function systemError(code: 'ENOSPC' | 'EIO' | 'ENOENT'): Error {
  const texts = {
    ENOSPC: 'no space left on device, write',
    EIO: 'i/o error, fdatasync',
    ENOENT: 'no such file or directory, open',
  }
  return Object.assign(new Error(`${code}: ${texts[code]}`), { code })
}

/** Makes a file system; `contents` are copied. */
export function memoryFiles(contents: ReadonlyMap<string, Buffer> = new Map()): MemoryFiles {
  const held = new Map(contents)
  const find = (path: string): Buffer => {
    const bytes = held.get(path)
    if (bytes === undefined) throw systemError('ENOENT')
    return bytes
  }
  const ask: MemoryFiles['refuse'] = (call, path) => {
    const error = files.refuse(call, path)
    if (error !== undefined) throw error
    return undefined
  }
  const files: MemoryFiles = {
    contents: held,
    refuse: () => undefined,
    makeFolder: () => {},
    list: (folder) =>
      [...held.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path)),
    create(path) {
      ask('create', path)
      let bytes: Buffer = Buffer.alloc(0)
      let isOpen = true
      held.set(path, bytes)
      const change = (next: Buffer) => {
        if (!isOpen) throw new Error('EBADF: bad file descriptor')
        bytes = next
        if (held.has(path)) held.set(path, bytes)
      }
      return {
        write(more) {
          ask('write', path)
          change(Buffer.concat([bytes, more]))
          return more.length
        },
        async sync() {
          await Promise.resolve()
          ask('sync', path)
          if (!isOpen) throw new Error('EBADF: bad file descriptor')
        },
        truncate(size) {
          ask('truncate', path)
          change(bytes.subarray(0, size))
        },
        close() {
          if (!isOpen) throw new Error('EBADF: bad file descriptor')
          isOpen = false
        },
      }
    },
    openForReading(path) {
      const bytes = find(path)
      return {
        size: bytes.length,
        read: (into, position) => bytes.copy(into, 0, position),
        close: () => {},
      }
    },
    rename(from, to) {
      ask('rename', from)
      held.set(to, find(from))
      held.delete(from)
    },
    remove(path) {
      ask('remove', path)
      find(path)
      held.delete(path)
    },
    async syncFolder(path) {
      ask('syncFolder', path)
    },
  }
  return files
}
