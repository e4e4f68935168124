/**
 * A call tree as the flat list of the reference node: parents before children, each with its path
 * (docs/internals/rpc-reference.md#68-flat-trace).
 */
import type { CallFrame } from './call-frame.ts'

/** A frame of a flat list. */
export interface FlatFrame {
  readonly frame: CallFrame
  /** Child index at each level; empty for the transaction's own frame. */
  readonly path: readonly number[]
  /** Number of its children in the list. */
  readonly children: number
}

/** The reference node lists neither a call that was not made nor a failed creation below the top frame. */
function isListed({ kind, failure }: CallFrame): boolean {
  if (failure === undefined) return true
  return failure.kind !== 'refused' && kind !== 'create' && kind !== 'create2'
}

/** The listed frames of a tree, in order. */
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
