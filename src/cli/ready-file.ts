/** The file of `--ready-file`: it is there, with the URL in it, while the node accepts connections. */
import { readFileSync, rmSync } from 'node:fs'
import { NodeError } from '../errors.ts'
import { replaceFile } from '../store/atomic-file.ts'

/** The file of one node. */
export interface ReadyFile {
  /** Writes it atomically. Throws `invalid-options` when it cannot be written. */
  write(url: string): Promise<void>
  /** Removes it, unless another node has replaced it. Never throws. */
  remove(): void
}

/** Makes the file's handle, and removes what a killed node left there. It is removed as well when the process exits. */
export function createReadyFile(path: string): ReadyFile {
  let written: string | undefined
  rmSync(path, { force: true })
  function remove(): void {
    if (written === undefined) return
    try {
      if (readFileSync(path, 'utf8') === written) rmSync(path)
    } catch {
      // It is gone already.
    }
    written = undefined
  }
  return {
    async write(url) {
      const text = `${url}\n`
      try {
        await replaceFile(path, text, 0o644)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new NodeError('invalid-options', `Cannot write the ready file ${path}: ${reason}.`)
      }
      written = text
      process.once('exit', remove)
    },
    remove,
  }
}
