/** The errors of a database whose files are damaged. */
import { NodeError } from '../errors.ts'

/** Its kind is `database`. */
export class DamagedError extends NodeError {
  /** A phrase that names the file or the block. */
  readonly problem: string

  constructor(dataDir: string, problem: string) {
    const verify = `tandem verify --data-dir ${dataDir}`
    super(
      'database',
      `The database in ${dataDir} is damaged: ${problem}. "${verify}" names all that is wrong, ` +
        `and "${verify} --repair" goes back to the last whole block.`,
    )
    this.problem = problem
  }
}

/**
 * What a node logs of damage that it finds while it runs. The keys of a damaged block are mostly hashes, so which blocks
 * are whole takes a reading of all entries.
 */
export function damageNotice(dataDir: string, problem: string): string {
  return `${new DamagedError(dataDir, problem).message} Only the repair finds which block that is, and prints its number.`
}

/** Blocks of a database's tables are damaged, so that LevelDB is not to open it. */
export class DamagedTablesError extends DamagedError {
  /** A phrase for each block, which names the file and the byte. */
  readonly problems: readonly string[]

  constructor(dataDir: string, problems: readonly [string, ...string[]]) {
    super(dataDir, problems[0])
    this.problems = problems
  }
}

/** An entry that is asked for cannot be read, or not be relied on. Its kind is `storage`. */
export class UnreadableError extends NodeError {
  /** A phrase that names the file or the entry. */
  readonly problem: string

  constructor(problem: string, dataDir?: string) {
    const verify = dataDir === undefined ? 'tandem verify' : `tandem verify --data-dir ${dataDir}`
    super(
      'storage',
      `The node cannot read what is asked for: its database is damaged (${problem}). Stop the node: "${verify}" ` +
        `names all that is wrong, and "${verify} --repair" goes back to the last whole block.`,
    )
    this.problem = problem
  }
}
