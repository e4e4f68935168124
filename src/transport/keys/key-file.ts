/** The key file: read whole, changed under a lock, replaced by one rename. */
import { readFileSync, realpathSync } from 'node:fs'
import { NodeError } from '../../errors.ts'
import { lockFile, lockPath, OWNER_ONLY, replaceFile } from '../../store/atomic-file.ts'
import { KeyFile, type KeyRecord } from './key-record.ts'

/** How long to wait for another process that changes the file, milliseconds. */
const LOCK_WAIT_MS = 5000

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Parses the text of a key file. Throws `invalid-options`, without quoting unexpected content. */
export function parseKeys(text: string, path: string): readonly KeyRecord[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw refused(`The key file ${path} is not JSON.`)
  }
  const outcome = KeyFile.safeParse(content)
  if (outcome.success) return outcome.data.keys
  const [issue] = outcome.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`
  throw refused(`The key file ${path} is malformed${where}: ${issue?.message ?? 'it has another form'}.`)
}

/** The text of a file, or `undefined` when there is none. Throws `invalid-options` when it cannot be read. */
export function readKeyText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw refused(`Cannot read the key file ${path}: ${codeOf(error)}.`)
  }
}

/** The keys of a file. Throws `invalid-options`, also when there is no file. */
export function readKeys(path: string): readonly KeyRecord[] {
  const text = readKeyText(path)
  if (text !== undefined) return parseKeys(text, path)
  throw refused(
    `There is no key file ${path}: make one with tandem keys create --api-keys ${path} --name <name>.`,
  )
}

/** Follows symbolic links, so that the linked file is replaced and not the link. */
function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function lockedMessage(lock: string): string {
  const pid = Number(readKeyText(lock))
  const holder =
    Number.isSafeInteger(pid) && pid > 0
      ? `process ${pid}${isRunning(pid) ? '' : ', which no longer runs,'}`
      : 'another process'
  return `The key file is locked by ${holder}: if nobody is changing it, delete ${lock}.`
}

/** Takes the lock; the returned function releases it. Throws `invalid-options` when another process holds it. */
async function takeLock(path: string): Promise<() => void> {
  let release: (() => void) | undefined
  try {
    release = await lockFile(path, LOCK_WAIT_MS)
  } catch (error) {
    throw refused(`Cannot write beside ${path}: ${codeOf(error)}.`)
  }
  if (release === undefined) throw refused(lockedMessage(lockPath(path)))
  return release
}

/** Owner only: a hash gives nobody a key, but names and limits are private too. */
async function replace(path: string, keys: readonly KeyRecord[]): Promise<void> {
  try {
    await replaceFile(path, `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`, OWNER_ONLY)
  } catch (error) {
    throw refused(`Cannot write the key file ${path}: ${codeOf(error)}.`)
  }
}

/**
 * Changes the keys of a file, which need not exist yet; concurrent processes wait for the lock. When `change` throws,
 * the file stays as it was. Throws `invalid-options` for a file that cannot be read, locked or written.
 */
export async function changeKeys(
  path: string,
  change: (keys: readonly KeyRecord[]) => readonly KeyRecord[],
): Promise<void> {
  const target = targetOf(path)
  const unlock = await takeLock(target)
  try {
    const text = readKeyText(target)
    await replace(target, change(text === undefined ? [] : parseKeys(text, path)))
  } finally {
    unlock()
  }
}
