/** Reading one key of the unified trie, and the nodes that prove what was read. */
import { NodeHash, type TrieChild, type TrieNode } from '../encoding/trie-node.ts'
import { bitsOf } from '../encoding/trie-path.ts'
import type { LoadNode } from '../encoding/trie-update.ts'

function resolve(child: TrieChild, load: LoadNode): TrieNode {
  return child instanceof NodeHash ? load(child) : child
}

/**
 * The node at which a key ends, or `undefined`. `bits` are those of the key behind `from`, whose own key it begins with.
 */
export function findBelow(load: LoadNode, from: TrieNode, bits: Uint8Array): TrieNode | undefined {
  let node = from
  let at = 0
  while (at < bits.length) {
    const child = bits[at] === 0 ? node.left : node.right
    if (child === undefined) return undefined
    node = resolve(child, load)
    at++
    const { path } = node
    if (path.length > bits.length - at) return undefined
    for (let i = 0; i < path.length; i++) if (path[i] !== bits[at + i]) return undefined
    at += path.length
  }
  return node
}

/** The node at which a key ends, or `undefined`. */
export function findNode(load: LoadNode, root: TrieNode, key: Uint8Array): TrieNode | undefined {
  const bits = bitsOf(key)
  const { path } = root
  if (path.length > bits.length) return undefined
  for (let i = 0; i < path.length; i++) if (path[i] !== bits[i]) return undefined
  return findBelow(load, root, bits.subarray(path.length))
}

/**
 * The nodes on the way to a key, the one at which it ends, or at which its absence shows, first, the root last; those
 * that are embedded in their parent included.
 */
export function nodesTo(load: LoadNode, root: TrieNode, key: Uint8Array): readonly TrieNode[] {
  const bits = bitsOf(key)
  const nodes: TrieNode[] = []
  let node: TrieNode | undefined = root
  let at = 0
  while (node !== undefined) {
    nodes.unshift(node)
    const { path }: TrieNode = node
    for (let i = 0; i < path.length; i++) if (path[i] !== bits[at + i]) return nodes
    at += path.length
    if (at === bits.length) return nodes
    const child: TrieChild | undefined = bits[at] === 0 ? node.left : node.right
    node = child && resolve(child, load)
    at++
  }
  return nodes
}

/** Is the key `bits`, or one that begins with it, possibly at or above `start`? */
function reaches(bits: readonly number[], start: Uint8Array): boolean {
  for (let i = 0; i < bits.length && i < start.length; i++) {
    if (bits[i] !== start[i]) return bits[i] === 1
  }
  return true
}

/**
 * The nodes with a value below `from`, in the order of their keys, from the key `start` on. Keys are bits behind the key
 * of `from`, valid until the next step.
 */
export function* nodesFrom(
  load: LoadNode,
  from: TrieNode,
  start: Uint8Array,
): Generator<{ readonly bits: readonly number[]; readonly node: TrieNode }> {
  const bits: number[] = []
  function* below(node: TrieNode): ReturnType<typeof nodesFrom> {
    for (const [bit, child] of [node.left, node.right].entries()) {
      if (child === undefined) continue
      const length = bits.length
      bits.push(bit)
      if (reaches(bits, start)) {
        const next = resolve(child, load)
        bits.push(...next.path)
        if (reaches(bits, start)) {
          if (next.value !== undefined) yield { bits, node: next }
          yield* below(next)
        }
      }
      bits.length = length
    }
  }
  yield* below(from)
}
