/** The messages of a run at the level of sources: which function was called, and where from. */
import type { SourceFrame } from '../../errors.ts'
import type { CodeMap } from '../code-map.ts'
import type { RecordedMessage } from '../message-recorder.ts'
import type { FunctionModel } from '../source-file.ts'
import { type CodeOf, selectorOf } from './message-run.ts'
import { shownFrame } from './shown-frame.ts'
import { placeOf } from './stack-frame.ts'

/** One message. */
export interface CalledMessage {
  /** Indexes from the transaction's own message on, as in flat traces. */
  readonly traceAddress: readonly number[]
  /** The contract and function that ran, where they are known. */
  readonly contract?: string
  readonly function?: string
  /** The call site in the code of the sender. */
  readonly site?: SourceFrame
}

/** The function that a message called; of a creation the constructor, if it is declared. */
export function calledFunction(
  { isCreation, contract }: CodeMap,
  message: RecordedMessage,
): FunctionModel | undefined {
  if (isCreation) return contract?.constructor_
  const called = contract?.bySelector.get(selectorOf(message))
  const other = message.input.length === 0 ? (contract?.receive ?? contract?.fallback) : contract?.fallback
  return called ?? other
}

/** All messages, each before those that it sent. */
export function calledMessages(root: RecordedMessage, codeOf: CodeOf): CalledMessage[] {
  const found: CalledMessage[] = []
  function visit(message: RecordedMessage, traceAddress: readonly number[], site?: SourceFrame): void {
    const code = codeOf(message)
    const called = code?.isCreation ? 'constructor' : code && calledFunction(code, message)?.name
    found.push({
      traceAddress,
      ...(code && { contract: code.name }),
      ...(called !== undefined && { function: called }),
      ...(site && { site }),
    })
    for (const [index, sent] of message.sent.entries()) {
      const pc = message.pcs[sent.after - 1]
      const range = pc === undefined ? undefined : code?.at(pc)?.range
      const place = code && placeOf(code, range)
      visit(sent.message, [...traceAddress, index], place && shownFrame({ kind: 'call', place }))
    }
  }
  visit(root, [])
  return found
}
