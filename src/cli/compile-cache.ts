/** Node's cache of compiled code, which shortens a start where Node has it (22.8 and later). */
import { realpathSync, statSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { diskFiles } from '../store/files.ts'

/** What newer releases of Node add to `node:module`. */
interface CompileCacheModule {
  enableCompileCache?(folder: string): unknown
  getCompileCacheDir?(): string | undefined
  flushCompileCache?(): void
}

/** The user's own cache folder, by the XDG base directory rules. */
function userCacheFolder(env: NodeJS.ProcessEnv): string {
  const given = env.XDG_CACHE_HOME
  return given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache')
}

/**
 * Whether only this user and root can put code into the folder: it is open to the user alone, and no folder above it
 * lets others replace it. A folder with the sticky bit, such as /tmp, lets them replace only their own files.
 */
function isPrivate(folder: string, user: number): boolean {
  const { uid, mode } = statSync(folder)
  if (uid !== user || (mode & 0o077) !== 0) return false
  for (let place = folder; place !== dirname(place); ) {
    place = dirname(place)
    const above = statSync(place)
    if (above.uid !== user && above.uid !== 0) return false
    if ((above.mode & 0o022) !== 0 && (above.mode & 0o1000) === 0) return false
  }
  return true
}

/**
 * Has modules that are loaded from now on taken from the cache of compiled code. A process that holds keys must run no
 * code that others wrote, so the cache is used only in a folder of the user's own; where there is none, modules are
 * compiled as usual. Does nothing where `NODE_COMPILE_CACHE` has enabled a cache, or `NODE_DISABLE_COMPILE_CACHE`
 * forbids it.
 */
export function useCompileCache(env: NodeJS.ProcessEnv = process.env): void {
  const { enableCompileCache, getCompileCacheDir } = module as CompileCacheModule
  const user = process.getuid?.()
  if (enableCompileCache === undefined || user === undefined) return
  if (env.NODE_DISABLE_COMPILE_CACHE !== undefined || getCompileCacheDir?.() !== undefined) return
  try {
    const folder = join(userCacheFolder(env), 'tandem', 'compiled')
    diskFiles.makeFolder(folder, 0o700)
    const place = realpathSync(folder)
    if (isPrivate(place, user)) enableCompileCache(place)
  } catch {
    // A home that cannot be written to: a start without the cache.
  }
}

/**
 * Writes what has been compiled so far to the cache, where one is used (Node 22.10 and later). Node itself writes it when a
 * process ends, and one that is killed leaves nothing: each start then takes 120 ms longer (Node 26).
 */
export function writeCompileCache(): void {
  const { flushCompileCache } = module as CompileCacheModule
  flushCompileCache?.()
}
