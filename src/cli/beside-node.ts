/** A command beside a node of its own, which ends with it. */
import type { Node } from '../node/node.ts'
import { createExecution } from './execution.ts'
import { readSettings, type TypedFlags, URL_VARIABLE } from './settings.ts'
import type { NodeWriters } from './start.ts'
import { endAtSignal, loadStart } from './start-command.ts'

/**
 * What differs from `tandem start` unless it is set: the chain is in memory, the port is free, standard output belongs
 * to the command.
 */
export const BESIDE_COMMAND = new Map<string, unknown>([
  ['memory', true],
  ['port', 0],
  ['logLevel', 'warn'],
])

/** What is particular to one command that runs another one. */
export interface BesideNode {
  /** Flags of the node. */
  readonly flags?: TypedFlags
  /** Settings of the node unless they are set. */
  readonly defaults?: ReadonlyMap<string, unknown>
  /** Variables of the command beside the URL of the node. */
  readonly environment?: Readonly<Record<string, string>>
  /** The stack traces of failures are not printed. */
  readonly withoutTrees?: true
  /** Called before the command starts. */
  onReady?(node: Node): void
  /** Called when the command has ended; the node runs until it resolves. */
  onEnd?(): Promise<void>
}

/** Runs the command to its end, and resolves with its exit code. Throws `NodeError` and `ListenError` when the node cannot start. */
export async function runBesideNode(
  words: readonly string[],
  { flags = new Map(), defaults = new Map(), environment = {}, withoutTrees, ...listener }: BesideNode,
  { errors }: Pick<NodeWriters, 'errors'>,
): Promise<number> {
  endAtSignal()
  const execution = createExecution(words, errors)
  const settings = readSettings(flags, process.env, new Map([...BESIDE_COMMAND, ...defaults]))
  const start = await loadStart()
  let exitCode = 1
  const stopped = execution.ended.then(async (code) => {
    exitCode = code
    await listener.onEnd?.()
  })
  // Standard output belongs to the command.
  await start(settings, { output: errors, errors }, () => stopped, {
    ...(withoutTrees && { withoutTrees }),
    announce(node, { url }) {
      listener.onReady?.(node)
      execution.launch({ ...environment, RPC_URL: url, [URL_VARIABLE]: url })
    },
  })
  return exitCode
}
