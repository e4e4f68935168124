/** The refusal of a database whose files are damaged. */
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
