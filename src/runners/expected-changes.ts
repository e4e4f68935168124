/** Checks what a transaction would change, or changed, against what a test expects. */
import { AssertionError } from 'node:assert'
import { counted } from '../counted.ts'
import { type Hex, lowerCaseHex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import type { Node } from '../node/node.ts'
import {
  asQuery,
  executeSteps,
  type SimulatedMessage,
  type SimulateMessage,
  type SimulateOptions,
  type SimulateStep,
  toMessage,
} from '../node/simulation.ts'
import { type ExpectedChanges, type Mismatch, mismatchesOf } from './change-comparison.ts'

/** A transaction to simulate on the head; steps to simulate, of which the last is checked; or the hash of a mined transaction. */
export type ChangesSubject = SimulateMessage | readonly SimulateStep[] | Hex

/** The steps of a subject and their place. Throws `invalid-params` for a hash of no mined transaction. */
function stepsOf({ engine }: Node, subject: ChangesSubject): [readonly SimulateStep[], SimulateOptions?] {
  if (typeof subject !== 'string') return [isSteps(subject) ? subject : [{ send: subject }]]
  const { transaction, block, index } = engine.queries.transaction(lowerCaseHex(subject)) ?? {}
  if (transaction === undefined || block === undefined || transaction.isRemasc) {
    throw invalidParams(`expectChanges: ${subject} is not the hash of a mined transaction of an account`)
  }
  const { from, to, value, data, gasLimit: gas, gasPrice, nonce } = transaction
  return [
    [{ send: { from, to, value, data, gas, gasPrice, nonce } }],
    { block: { blockHash: block.hash }, transactionIndex: index },
  ]
}

const isSteps = (subject: SimulateMessage | readonly SimulateStep[]): subject is readonly SimulateStep[] =>
  Array.isArray(subject)

function failure(mismatches: readonly Mismatch[]): AssertionError {
  const lines = mismatches.map(
    ({ path, expected, actual }) => `  ${path}: expected ${expected}, is ${actual}`,
  )
  const message = `${counted(mismatches.length, 'expected change')} did not happen:\n${lines.join('\n')}`
  const side = (of: 'expected' | 'actual') =>
    Object.fromEntries(mismatches.map((mismatch) => [mismatch.path, mismatch[of]]))
  return new AssertionError({ message, actual: side('actual'), expected: side('expected') })
}

/**
 * Checks what a transaction would change if it were sent, or changed when it was mined; nothing is written. Returns what it
 * does. Throws an `AssertionError` that lists all that differs, and `NodeError` (`invalid-params`) for a variable that is
 * not known, and as `node.simulate` does.
 */
export async function expectChanges(
  node: Node,
  subject: ChangesSubject,
  expected: ExpectedChanges,
): Promise<SimulatedMessage> {
  return asQuery(node.engine, async () => {
    const step = (await executeSteps(node, ...stepsOf(node, subject))).at(-1)
    if (step?.kind !== 'call' && step?.kind !== 'send') {
      throw invalidParams('expectChanges: the last step is not a call or a send')
    }
    const message = toMessage(step, node.engine)
    const mismatches = mismatchesOf(node, step, message, expected)
    if (mismatches.length > 0) throw failure(mismatches)
    return message
  })
}
