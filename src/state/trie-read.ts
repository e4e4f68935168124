/** Reading one key of a hexary trie, and the nodes that prove what was read. */
import { EMPTY_TRIE_ROOT } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import { type Child, encodeNode, type MptNode, nibbleAt, sharedNibbles, textOf } from './trie-node.ts'

/** The node with this keccak-256. Throws when it is not known: a lost node must never read as an absent key. */
export type LoadNode = (hash: Hex) => MptNode

/** The value at a key; `undefined` when there is none. */
export function readTrie(load: LoadNode, root: Hex, key: Uint8Array): Uint8Array | undefined {
  if (root === EMPTY_TRIE_ROOT) return undefined
  let node = load(root)
  let depth = 0
  for (;;) {
    let child: Child | undefined
    if (node.kind === 'branch') {
      child = node.children[nibbleAt(key, depth)]
      depth += 1
    } else {
      if (sharedNibbles(key, depth, node.path) < node.path.length) return undefined
      if (node.kind === 'leaf') return node.value
      child = node.child
      depth += node.path.length
    }
    if (child === undefined) return undefined
    node = child.kind === 'hash' ? load(textOf(child)) : child
  }
}

/**
 * The RLP of every hashed node on the way to a key, root first (EIP-1186), whether or not the key is there: a way
 * that ends early proves absence. Nothing for the empty trie.
 */
export function proveTrie(load: LoadNode, root: Hex, key: Uint8Array): Uint8Array[] {
  const proof: Uint8Array[] = []
  const record: LoadNode = (hash) => {
    const node = load(hash)
    proof.push(encodeNode(node))
    return node
  }
  readTrie(record, root, key)
  return proof
}
