/** The folder of key files: each is written whole or not at all, and readable by its owner alone. */
import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, NodeError } from '../errors.ts'
import { isDraft, OWNER_ONLY, replaceFile } from './atomic-file.ts'
import { diskFiles } from './files.ts'

/** A file of the folder. */
export interface KeyFile {
  readonly name: string
  readonly text: string
}

/** One folder of key files. One process at a time writes in it: the one that holds the database beside it. */
export interface KeyFiles {
  /** All of them, by name; a folder that is not there has none. Throws `database`, naming the folder, when it cannot be read. */
  read(): Promise<readonly KeyFile[]>
  /**
   * Writes or replaces a file; once it resolves the file survives a crash of the process and of the machine. Calls must
   * not overlap.
   */
  write(file: KeyFile): Promise<void>
}

/** The key files of a folder, which is made with the first one. */
export function keyFilesIn(folder: string): KeyFiles {
  let isSwept = false

  /** Removes what a process that was killed left half written. */
  async function sweep(): Promise<void> {
    const drafts = (await readdir(folder)).filter(isDraft)
    await Promise.all(drafts.map((name) => unlink(join(folder, name))))
    isSwept = true
  }

  return {
    async read() {
      try {
        const entries = await readdir(folder, { withFileTypes: true })
        const names = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        return await Promise.all(
          names
            .map(({ name }) => name)
            .sort()
            .map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
        )
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
        throw new NodeError('database', `The key files in ${folder} cannot be read: ${messageOf(error)}`)
      }
    },

    async write({ name, text }) {
      diskFiles.makeFolder(folder, 0o700)
      if (!isSwept) await sweep()
      await replaceFile(join(folder, name), text, OWNER_ONLY)
    },
  }
}
