/** What failed last on the node, with the stack of each failed transaction by the sources that the node knows. */
import { z } from 'zod'
import type { NodeCaller } from './node-caller.ts'

/** Failures in one answer. */
const MOST_FAILURES = 10

const Entry = z.object({
  transactionHash: z.string().nullable(),
  failure: z.string().nullable(),
  console: z.array(z.string()),
  age: z.number(),
})
const Trace = z.object({ stackTrace: z.array(z.unknown()) })

/** A failed transaction, or a failed call where the hash is null. */
export interface Failure {
  readonly transactionHash: string | null
  readonly reason: string
  readonly console: readonly string[]
  readonly secondsAgo: number
  /** Frames, outermost first; empty where no sources are known. */
  readonly stackTrace: readonly unknown[]
}

async function stackOf(node: NodeCaller, hash: string): Promise<readonly unknown[]> {
  const trace = Trace.safeParse(await node.resultOf('evm_stackTrace', [hash]))
  return trace.success ? trace.data.stackTrace : []
}

/** The last failures, the latest first. */
export async function lastFailures(node: NodeCaller): Promise<readonly Failure[]> {
  const entries = z.array(Entry).safeParse(await node.resultOf('evm_consoleOutput', []))
  const failed = entries.success ? entries.data.filter(({ failure }) => failure !== null) : []
  const last = failed.reverse().slice(0, MOST_FAILURES)
  const failures: Failure[] = []
  for (const { transactionHash, failure, console, age } of last) {
    const stackTrace = transactionHash === null ? [] : await stackOf(node, transactionHash)
    failures.push({ transactionHash, reason: failure ?? '', console, secondsAgo: age, stackTrace })
  }
  return failures
}
