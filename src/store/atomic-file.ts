/**
 * Files that are replaced whole, and a lock for those that several processes change. `write-file-atomic` does not sync the
 * folder after its rename, so a replaced file may be lost with the machine; `proper-lockfile` had its last release in 2021.
 */
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { diskFiles, type Files, writeWhole } from './files.ts'

/** Access for the owner only. */
export const OWNER_ONLY = 0o600

/** How often a lock is tried again, milliseconds. */
const LOCK_RETRY_MS = 20

/** Is this the name of a file that `replaceFile` did not finish? A process that is killed leaves it behind. */
export function isDraft(name: string): boolean {
  return /^\..*\.draft$/.test(name)
}

/**
 * Creates or replaces a file with `mode` (less the process's umask) by one rename: a reader finds the old text or the
 * new one. Once it resolves the file survives a crash of the process and of the machine. Throws the file system's
 * errors, and what the iteration of `content` throws; the file is then as it was.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  mode: number,
  files: Files = diskFiles,
): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.draft`)
  const file = files.create(draft, mode)
  try {
    try {
      if (typeof content === 'string') writeWhole(file, Buffer.from(content))
      else if (content instanceof Uint8Array) writeWhole(file, content)
      else for await (const part of content) writeWhole(file, part)
      await file.sync()
    } finally {
      file.close()
    }
    files.rename(draft, path)
  } catch (error) {
    files.remove(draft)
    throw error
  }
  await files.syncFolder(dirname(path))
}

/** The file that stands for the lock of `path`; it holds the id of the process that has the lock. */
export function lockPath(path: string): string {
  return `${path}.lock`
}

/**
 * Takes the lock of `path`, waiting up to `waitMs` milliseconds; the result releases it. `undefined` when another process
 * still holds it. Throws the file system's errors.
 */
export async function lockFile(path: string, waitMs: number): Promise<(() => void) | undefined> {
  const lock = lockPath(path)
  const deadline = Date.now() + waitMs
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx', mode: OWNER_ONLY })
      return () => rmSync(lock, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (Date.now() > deadline) return undefined
    }
    await wait(LOCK_RETRY_MS)
  }
}
