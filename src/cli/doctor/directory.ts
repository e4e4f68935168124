/** Checks of the data directory: permissions, free disk, damage. */
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../../errors.ts'
import { sizeOfDirectory } from '../../store/directory-size.ts'
import { isFreeDirectory } from '../../store/identity.ts'
import { openStoreForVerification } from '../../store/level.ts'
import { type Finding, inOrder } from './finding.ts'

const MIB = 1024 * 1024
/** Free bytes without which a database cannot grow, and below which it soon cannot. */
const LEAST_FREE = 64 * MIB
const SCARCE = 1024 * MIB

/** The folder, or the nearest one above it that is there. */
async function existing(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  return isThere || path === dirname(path) ? path : existing(dirname(path))
}

/** May this user make and change files in the directory, or make it? */
export async function checkAccess(dataDir: string): Promise<Finding> {
  const check = 'permissions'
  const folder = await existing(resolve(dataDir))
  const name =
    folder === resolve(dataDir)
      ? `The data directory ${dataDir}`
      : `The folder ${folder}, where ${dataDir} would be made,`
  try {
    if (!(await stat(folder)).isDirectory()) {
      const advice = 'Name another directory with --data-dir.'
      return { check, verdict: 'problem', found: `${folder} is a file, not a folder.`, advice }
    }
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return inOrder(check, `${name} can be written.`)
  } catch {
    return {
      check,
      verdict: 'problem',
      found: `${name} cannot be written by this user.`,
      advice: `Change its owner (sudo chown -R "$USER" ${folder}), or name another directory with --data-dir.`,
    }
  }
}

/** Free bytes of the file system that holds a path, for this user. */
async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(await existing(resolve(path)))
  return bavail * bsize
}

/** Is there room for the chain? `free` is the bytes that are free. */
export async function checkDisk(dataDir: string, free?: number): Promise<Finding> {
  const check = 'disk'
  const bytes = free ?? (await freeBytes(dataDir))
  const found = `${Math.floor(bytes / MIB).toLocaleString('en-US')} MiB are free for ${dataDir}.`
  if (bytes >= SCARCE) return inOrder(check, found)
  const advice =
    'Free some space, name a directory on another disk with --data-dir, or keep the chain in memory (--memory).'
  return { check, verdict: bytes < LEAST_FREE ? 'problem' : 'warning', found, advice }
}

/** Is the database in the directory whole? Reads all its files; only LevelDB's own log may change. */
export async function checkDatabase(dataDir: string): Promise<Finding> {
  const check = 'data directory'
  try {
    if (await isFreeDirectory(dataDir)) {
      return inOrder(check, `There is no chain in ${dataDir} yet; the first start makes one.`)
    }
    const { identity, store, problems, unfinished } = await openStoreForVerification(dataDir)
    await store.close()
    const [problem = unfinished] = problems
    const size = Math.ceil((await sizeOfDirectory(dataDir)) / MIB).toLocaleString('en-US')
    const what =
      identity.fork === undefined ? `the chain ${identity.chain}` : `a fork at block ${identity.fork.number}`
    if (problem === undefined) {
      return inOrder(
        check,
        `${dataDir} holds ${what} (chain id ${identity.chainId}, ${size} MiB), and its files are whole.`,
      )
    }
    return {
      check,
      verdict: 'problem',
      found: `The database in ${dataDir} is damaged: ${problem}.`,
      advice: `"tandem verify --data-dir ${dataDir}" names all that is wrong, and with --repair goes back to the last whole block.`,
    }
  } catch (error) {
    // The refusals of a directory say what to do.
    return { check, verdict: 'problem', found: messageOf(error) }
  }
}
