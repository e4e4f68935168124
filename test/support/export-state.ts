/** A state as the reference node writes it: its tool `ExportState`, over the trie nodes of a database. */
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { decodeNode, TrieNode, type TrieValue } from '../../src/encoding/trie-node.ts'
import type { NodeSource } from '../../src/state/model.ts'

const isLong = (value: TrieValue | undefined): value is Exclude<TrieValue, Uint8Array> =>
  value !== undefined && !(value instanceof Uint8Array)

/** The lines of the state with this root; nodes come before those below them, and long values of children are repeated. */
export function exportedState(source: NodeSource, root: Hex): string[] {
  const lines: string[] = []
  const nodeAt = (hash: Hex): TrieNode => decodeNode(source.node(hash) as Uint8Array)
  const writeValue = ({ value }: TrieNode): void => {
    if (isLong(value)) lines.push(toHex(source.code(value.hash.hex) as Uint8Array).slice(2))
  }

  function process(trie: TrieNode): void {
    lines.push(toHex(trie.bytes).slice(2))
    for (const reference of [trie.left, trie.right]) {
      if (reference === undefined) continue
      const child = reference instanceof TrieNode ? reference : nodeAt(reference.hex)
      if (!(reference instanceof TrieNode)) process(child)
      writeValue(child)
    }
    writeValue(trie)
  }

  process(nodeAt(root))
  return lines
}
