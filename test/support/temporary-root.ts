/** Where the temporary folders of the tests are. */
import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm'
/** Bytes that have to be free in it. All tests together take a quarter of that. */
const LEAST_FREE = 2 ** 31

/** Is the folder writable, may programs run from it, and has it enough free space? */
function isUsable(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const [, , type, options = ''] = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ') ?? []
    const { bavail, bsize } = statfsSync(MEMORY)
    return type === 'tmpfs' && !/\b(ro|noexec)\b/.test(options) && bavail * bsize >= LEAST_FREE
  } catch {
    return false
  }
}

/**
 * In memory where that can be: LevelDB waits for the disk whenever it is opened and closed, which takes longer than most
 * tests. A `TMPDIR` that is set comes first.
 */
export function temporaryRoot(): string {
  return process.env.TMPDIR === undefined && isUsable() ? MEMORY : tmpdir()
}
