/** The error of a database whose disk refuses writes. */
import { NodeError } from '../errors.ts'

/** Why a disk refused, without the paths that the error names: `ENOSPC: no space left on device`. */
export function storageReason(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const message = cause instanceof Error ? cause.message : String(cause)
  // Node.js: "ENOSPC: no space left on device, write". LevelDB: "IO error: /data/db/000005.ldb: No space left on device".
  const system = /^E[A-Z0-9]+: [^,]+/.exec(message)?.[0]
  return system ?? message.split(': ').at(-1) ?? message
}

/** The refusal of a change while the disk refuses writes. */
export function storageFailure(error: unknown): NodeError {
  return new NodeError(
    'storage',
    `The node cannot write to its disk (${storageReason(error)}). Nothing was changed; changes are accepted again as soon as the disk can be written.`,
  )
}
