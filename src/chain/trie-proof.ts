/**
 * Walks a proof of the unified binary trie from the root to a key, step by step, so that it can be done in any language
 * (docs/internals/protocol.md#57-trie-nodes). Keccak is keccak-256.
 */
import { equal } from '../encoding/bytes.ts'
import { keccak256, keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { decodeNode, NodeHash, type TrieChild, type TrieNode } from '../encoding/trie-node.ts'
import { bitsOf } from '../encoding/trie-path.ts'
import { invalidParams } from '../errors.ts'

/** The last node of a proof, and its place with respect to the key. */
export interface ProofEnd {
  readonly node: TrieNode
  /** Whether the node's path is the next part of the key. */
  readonly isOnPath: boolean
  /** The bits of the key behind the node's path. */
  readonly rest: Uint8Array
  /** The node that the key leads to next; `undefined` where there is none. */
  readonly next: TrieChild | undefined
}

/** Whether the parent of a node refers to these bytes, by themselves or by their keccak. */
function isChild(child: TrieChild, bytes: Uint8Array): boolean {
  return child instanceof NodeHash ? equal(child.bytes, keccak256(bytes)) : equal(child.bytes, bytes)
}

function decoded(bytes: Uint8Array): TrieNode {
  try {
    return decodeNode(bytes)
  } catch (error) {
    if (error instanceof RangeError) throw invalidParams(`A node of the proof is malformed: ${error.message}`)
    throw error
  }
}

/**
 * Walks a proof, whose nodes are leaf first, root last. Throws `invalid-params` naming what is wrong, unless each node is
 * the child of the one above that the key leads to.
 */
export function walkProof(nodes: readonly Uint8Array[], key: Uint8Array, root: Hex): ProofEnd {
  // 1. The last node of the list is the root.
  const top = nodes.at(-1)
  if (top === undefined) throw invalidParams('The proof has no nodes')
  if (keccakHex(top) !== root) throw invalidParams('The last node of the proof is not the root')

  let end = stepTo(top, bitsOf(key))
  for (const bytes of nodes.slice(0, -1).reverse()) {
    // 4. The child is the next node of the proof.
    if (end.next === undefined || !isChild(end.next, bytes)) {
      throw invalidParams('A node of the proof is not the child of the one above')
    }
    end = stepTo(bytes, end.rest.subarray(1))
  }
  return end
}

/** Compares a node with the bits of the key that are left. */
function stepTo(bytes: Uint8Array, bits: Uint8Array): ProofEnd {
  // 2. The node's path is the next part of the key.
  const node = decoded(bytes)
  const { length } = node.path
  const isOnPath = equal(node.path, bits.subarray(0, length))
  const rest = bits.subarray(length)

  // 3. The next bit chooses the child.
  const next = !isOnPath || rest.length === 0 ? undefined : rest[0] === 0 ? node.left : node.right
  return { node, isOnPath, rest, next }
}
