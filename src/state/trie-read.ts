/** Reading one key of the unified trie, and the nodes that prove what was read. */
import { concat, EMPTY, oneByte } from '../encoding/bytes.ts'
import { bitsOf, NodeHash, type TrieChild, type TrieNode, type TrieValue } from '../encoding/trie-node.ts'
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

/** The values below a node, each with the bits of its key behind the node's own. */
export function* valuesBelow(load: LoadNode, from: TrieNode): Generator<[Uint8Array, TrieValue]> {
  const open: [node: TrieNode, bits: Uint8Array][] = [[from, EMPTY]]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [node, bits] = at
    if (node !== from && node.value !== undefined) yield [bits, node.value]
    for (const [bit, child] of [node.right, node.left].entries()) {
      if (child === undefined) continue
      const below = resolve(child, load)
      open.push([below, concat(bits, oneByte(1 - bit), below.path)])
    }
  }
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
