/**
 * The folders of the cache: `<chain id>/<height>-<block hash>-<scope>/`, in each any number of files. Every process appends to
 * files of its own and reads those of all, so that no lock is needed and a killed one leaves only a torn end behind. A
 * database such as LevelDB would give its folder to one process alone.
 */
import { createHash } from 'node:crypto'
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { lowerCaseHex } from '../../../encoding/hex.ts'
import { diskFiles } from '../../../store/files.ts'
import type { RemoteBlockId } from '../model.ts'

/** Files of records end so. */
export const FILE_SUFFIX = '.part'
/** Files that could not be read are put aside under this name; they count towards the size, and are removed first. */
const ASIDE_SUFFIX = '.aside'

const CHAIN_FOLDER = /^[1-9]\d{0,15}$/
/** Without a scope: of an older format, which does not name the upstream. */
const BLOCK_FOLDER = /^(\d{1,15})-(0x[0-9a-f]{64})(?:-([0-9a-f]{32}))?$/
/** A file of records, written by the process of this id. */
export const RECORD_FILE = /^(\d{1,10})-[0-9a-f]{12}\.part$/

/** A folder of the cache: what is known of a block. */
export interface CachedBlock {
  readonly chainId: number
  readonly block: RemoteBlockId
  /** Of the URLs that answered; `undefined` for a folder of an older format, which is not read. */
  readonly scope: string | undefined
  readonly path: string
  readonly bytes: number
  /** When it was used last, milliseconds. */
  readonly usedAt: number
}

/**
 * The name under which answers of these origins are kept, 32 hex digits: what one upstream answered is never read in the place
 * of another one's answer. Several URLs of a fork are trusted together, in whatever order.
 */
export function cacheScope(origins: readonly string[]): string {
  const text = [...new Set(origins)].sort().join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** The folder of a block. */
export function blockFolder(
  root: string,
  chainId: number,
  { number, hash }: RemoteBlockId,
  scope: string,
): string {
  return join(root, String(chainId), `${number}-${hash}-${scope}`)
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** The names in a folder; none where it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await namesIn(folder)).map(async (name) => {
      try {
        return (await stat(join(folder, name))).size
      } catch {
        // Another process removed it.
        return 0
      }
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** All blocks of the cache, of one network where `chainId` is given; the one used last first. */
export async function listCache(root: string, chainId?: number): Promise<CachedBlock[]> {
  const found: CachedBlock[] = []
  for (const chain of await namesIn(root)) {
    if (!CHAIN_FOLDER.test(chain) || (chainId !== undefined && chain !== String(chainId))) continue
    for (const name of await namesIn(join(root, chain))) {
      const [, number, hash, scope] = BLOCK_FOLDER.exec(name) ?? []
      if (number === undefined || hash === undefined) continue
      const path = join(root, chain, name)
      try {
        const usedAt = (await stat(path)).mtimeMs
        const block = { number: Number(number), hash: lowerCaseHex(hash) }
        found.push({ chainId: Number(chain), block, scope, path, bytes: await sizeOf(path), usedAt })
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    }
  }
  return found.sort((a, b) => b.usedAt - a.usedAt)
}

/** Makes the folder of a block and notes that it is used now, milliseconds. */
export async function useFolder(folder: string, now: number): Promise<void> {
  diskFiles.makeFolder(folder)
  await utimes(folder, now / 1000, now / 1000)
}

/** Renames a file that could not be read, so that it is not read again. */
export async function putAside(path: string): Promise<void> {
  try {
    await rename(path, `${path}${ASIDE_SUFFIX}`)
  } catch (error) {
    // Another process did it.
    if (!isMissing(error)) throw error
  }
}

/** Removes folders until the cache has at most so many bytes, those used longest ago first, but none of `inUse`; the bytes left. */
export async function limitCache(root: string, most: number, inUse: ReadonlySet<string>): Promise<number> {
  const blocks = await listCache(root)
  let total = blocks.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { path, bytes } of blocks.reverse()) {
    if (total <= most) break
    if (inUse.has(path)) continue
    await rm(path, { recursive: true, force: true })
    total -= bytes
  }
  return total
}

/** Removes the cache's own folders, of one network where `chainId` is given; other files stay. How many blocks, and bytes. */
export async function clearCache(root: string, chainId?: number): Promise<{ blocks: number; bytes: number }> {
  const blocks = await listCache(root, chainId)
  for (const { path } of blocks) await rm(path, { recursive: true, force: true })
  return { blocks: blocks.length, bytes: blocks.reduce((sum, { bytes }) => sum + bytes, 0) }
}
