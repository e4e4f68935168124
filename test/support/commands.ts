/** Commands of the command line, run in this process. */
import { Command } from 'commander'
import type { Writers } from '../../src/cli/start.ts'
import { NodeError } from '../../src/errors.ts'

/** What a command printed, and the error with which it ended. */
export interface CommandRun {
  readonly output: string
  readonly error: NodeError | undefined
}

/** Fills a command in and runs it. Errors that the command line does not expect are thrown. */
export async function runFilled(
  fill: (command: Command, writers: Writers) => void,
  args: readonly string[],
): Promise<CommandRun> {
  const lines: string[] = []
  const writer = { write: (line: string) => void lines.push(line), flush: async () => {} }
  const command = new Command().exitOverride()
  fill(command, { output: writer, errors: writer })
  const ended = await command.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (ended !== undefined && !(ended instanceof NodeError)) throw ended
  return { output: lines.join('\n'), error: ended }
}
