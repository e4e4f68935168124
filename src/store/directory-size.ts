/** The size of a data directory. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Bytes of all files below a directory. A file that disappears meanwhile, as LevelDB's do, counts nothing. */
export async function sizeOfDirectory(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        stat(join(parentPath, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
