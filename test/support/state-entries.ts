/** All keys of a state trie with their values, read from its stored nodes alone. */
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { decodeNode, NodeHash, type TrieNode } from '../../src/encoding/trie-node.ts'
import { packedBits } from '../../src/encoding/trie-path.ts'

/** The entries below a root, in order of their keys. `stored` reads nodes and long values by hash. */
export function stateEntries(
  root: Hex,
  stored: (hash: Hex) => Uint8Array | undefined,
): (readonly [key: Uint8Array, value: Uint8Array])[] {
  const entries: (readonly [Uint8Array, Uint8Array])[] = []
  const bytesOf = (hash: Hex): Uint8Array => {
    const bytes = stored(hash)
    if (bytes === undefined) throw new Error(`the state lacks ${hash}`)
    return bytes
  }
  const walk = (node: TrieNode, before: readonly number[]): void => {
    const bits = [...before, ...node.path]
    const { value } = node
    if (value !== undefined) {
      const bytes = value instanceof Uint8Array ? value : (value.bytes ?? bytesOf(value.hash.hex))
      entries.push([packedBits(Uint8Array.from(bits)), bytes])
    }
    for (const [bit, child] of [node.left, node.right].entries()) {
      if (child === undefined) continue
      walk(child instanceof NodeHash ? decodeNode(bytesOf(child.hex)) : child, [...bits, bit])
    }
  }
  if (root !== EMPTY_TRIE_ROOT) walk(decodeNode(bytesOf(root)), [])
  return entries
}
