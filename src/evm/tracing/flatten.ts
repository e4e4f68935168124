/**
 * A call tree as the flat list of the chain's node: parents before children, each with its path
 * (docs/rpc-reference.md#68-flat-trace).
 */
import type { CallFrame } from './call-frame.ts'

/** A frame of a flat list. */
export interface FlatFrame {
  readonly frame: CallFrame
  /** Which child of which child it is; empty for the transaction's own. */
  readonly path: readonly number[]
  /** How many of its children are in the list. */
  readonly children: number
}

/** The node leaves no trace of a call that was not made, nor of a creation within a transaction that failed. */
function isListed({ kind, failure }: CallFrame): boolean {
  if (failure === undefined) return true
  return failure.kind !== 'refused' && kind !== 'create' && kind !== 'create2'
}

/** The frames of a tree that are listed, in order. */
export function flatten(root: CallFrame): readonly FlatFrame[] {
  const list: FlatFrame[] = []
  function add(frame: CallFrame, path: readonly number[]): void {
    const calls = frame.calls.filter(isListed)
    list.push({ frame, path, children: calls.length })
    for (const [index, call] of calls.entries()) add(call, [...path, index])
  }
  add(root, [])
  return list
}
