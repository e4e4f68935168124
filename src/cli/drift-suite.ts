/** `tandem drift … -- npm test`: the transactions of a command that runs beside a node of its own, each compared when it is mined. */
import type { Hex } from '../encoding/hex.ts'
import { messageOf } from '../errors.ts'
import type { Node } from '../node/node.ts'
import { runBesideNode } from './beside-node.ts'
import type { NodeWriters } from './start.ts'

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
  writers: NodeWriters,
): Promise<number> {
  let last: Promise<void> = Promise.resolve()
  const take = (node: Node, hash: Hex) => {
    // It begins now, while the states that it reads are kept.
    const under = compare(node, hash).then(
      (answer) => () => answer !== null && listener.compared(hash, answer),
      (error) => () => listener.failed(hash, messageOf(error)),
    )
    last = last.then(async () => void (await under)())
  }
  return runBesideNode(
    words,
    {
      withoutTrees: true,
      onReady(node) {
        node.engine.events.on('chain', ({ added }) => {
          for (const { block } of added) {
            for (const { hash, isRemasc } of block.transactions) if (!isRemasc) take(node, hash)
          }
        })
      },
      onEnd: () => last,
    },
    writers,
  )
}
