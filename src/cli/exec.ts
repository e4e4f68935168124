/** `tandem exec`: runs a command beside a node of its own, which ends with it. */
import type { Command } from 'commander'
import { runBesideNode } from './beside-node.ts'
import { typedFlags } from './setting-flags.ts'
import type { NodeWriters } from './start.ts'
import { addStartFlags } from './start-command.ts'

const EXAMPLES = `
Examples:
  tandem exec -- npm test                  RPC_URL names the node
  tandem exec --seed ci -- npx hardhat test --network localhost`

/**
 * Fills in the command. Its action sets the exit code of the process to that of the command, and throws `NodeError` and
 * `ListenError` when the node cannot start.
 */
export function fillExecCommand(command: Command, writers: NodeWriters): void {
  addStartFlags(command)
  command
    .argument('<command...>', 'after --: the program to run and its arguments')
    .usage('[flags of start] -- <command...>')
    .addHelpText('after', EXAMPLES)
    .action(async (words: readonly string[]) => {
      process.exitCode = await runBesideNode(words, { flags: typedFlags(command) }, writers)
    })
}
