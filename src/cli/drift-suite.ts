/** `tandem drift … -- npm test`: the transactions of a command that runs beside a node of its own, each compared when it is mined. */
import type { Hex } from '../encoding/hex.ts'
import { messageOf } from '../errors.ts'
import type { Node } from '../node/node.ts'
import { BESIDE_COMMAND } from './exec.ts'
import { createExecution } from './execution.ts'
import { readSettings, URL_VARIABLE } from './settings.ts'
import type { NodeWriters } from './start.ts'
import { endAtSignal } from './start-command.ts'

/** Compares a transaction of a node that was just mined; null for one that is not mined any more. */
export type CompareMined<Answer> = (node: Node, hash: Hex) => Promise<Answer | null>

/** Called for each transaction, in their order. */
export interface SuiteListener<Answer> {
  compared(hash: Hex, answer: Answer): void
  /** The comparison failed, such as at the time limit. */
  failed(hash: Hex, message: string): void
}

/**
 * Runs a command beside a node, and compares its transactions while it runs: a snapshot that is reverted takes them from the
 * chain. The settings of the node are those of the environment and of the configuration file. Resolves, when all is
 * compared, with the exit code of the command. Throws `NodeError` and `ListenError` when the node cannot start.
 */
export async function compareSuite<Answer>(
  words: readonly string[],
  compare: CompareMined<Answer>,
  listener: SuiteListener<Answer>,
  { errors }: NodeWriters,
): Promise<number> {
  endAtSignal()
  const execution = createExecution(words, errors)
  const settings = readSettings(new Map(), process.env, BESIDE_COMMAND)
  const { start } = await import('./start.ts')
  let last: Promise<void> = Promise.resolve()
  const take = (node: Node, hash: Hex) => {
    // It begins now, while the states that it reads are kept.
    const under = compare(node, hash).then(
      (answer) => () => answer !== null && listener.compared(hash, answer),
      (error) => () => listener.failed(hash, messageOf(error)),
    )
    last = last.then(async () => void (await under)())
  }
  let exitCode = 0
  const stopped = execution.ended.then(async (code) => {
    exitCode = code
    await last
  })
  await start(settings, { output: errors, errors }, () => stopped, {
    withoutTrees: true,
    announce(node, { url }) {
      node.engine.events.on('chain', ({ added }) => {
        for (const { block } of added) {
          for (const { hash, isRemasc } of block.transactions) if (!isRemasc) take(node, hash)
        }
      })
      execution.launch({ RPC_URL: url, [URL_VARIABLE]: url })
    },
  })
  return exitCode
}
