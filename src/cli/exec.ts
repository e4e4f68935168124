/** `tandem exec`: runs a command beside a node of its own, which ends with it. */
import type { Command } from 'commander'
import { createExecution } from './execution.ts'
import { typedFlags } from './setting-flags.ts'
import { readSettings, URL_VARIABLE } from './settings.ts'
import type { NodeWriters } from './start.ts'
import { addStartFlags, endAtSignal } from './start-command.ts'

/**
 * What differs from `tandem start` unless it is set: the chain is in memory, the port is free, standard output belongs
 * to the command.
 */
export const BESIDE_COMMAND = new Map<string, unknown>([
  ['memory', true],
  ['port', 0],
  ['logLevel', 'warn'],
])

const EXAMPLES = `
Examples:
  tandem exec -- npm test                  RPC_URL names the node
  tandem exec --seed ci -- npx hardhat test --network localhost`

/**
 * Fills in the command. Its action sets the exit code of the process to that of the command, and throws `NodeError` and
 * `ListenError` when the node cannot start.
 */
export function fillExecCommand(command: Command, { errors }: NodeWriters): void {
  addStartFlags(command)
  command
    .argument('<command...>', 'after --: the program to run and its arguments')
    .usage('[flags of start] -- <command...>')
    .addHelpText('after', EXAMPLES)
    .action(async (words: readonly string[]) => {
      endAtSignal()
      const execution = createExecution(words, errors)
      const settings = readSettings(typedFlags(command), process.env, BESIDE_COMMAND)
      const { start } = await import('./start.ts')
      let exitCode: number | undefined
      const stopped = execution.ended.then((code) => {
        exitCode = code
      })
      // Standard output belongs to the command.
      await start(settings, { output: errors, errors }, () => stopped, {
        announce(_node, { url }) {
          execution.launch({ RPC_URL: url, [URL_VARIABLE]: url })
        },
      })
      process.exitCode = exitCode
    })
}
