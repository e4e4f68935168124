/** Checks trie nodes and code by their hashes, and that all nodes of a state are stored. */
import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import { keccakHex } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import { decodeNode, NodeHash, type TrieChild, type TrieNode } from '../../encoding/trie-node.ts'
import type { AuditedTable, AuditedTables } from './audited-tables.ts'

/** Checks every stored node or code, of all states, against the hash that is its key. */
export async function checkHashes(table: AuditedTable<Hex, Uint8Array>): Promise<void> {
  for await (const [hash, bytes] of table.entries()) {
    const found = keccakHex(bytes)
    if (found !== hash) table.fault(hash, 'the hash of the bytes differs', { expected: hash, found })
  }
}

/** What a state is made of. */
export interface WalkedState {
  /** Nodes that are stored by themselves; those within their parents are not counted. */
  readonly nodes: number
  /** Values of over 32 bytes: code, and cells of precompiled contracts. */
  readonly longValues: number
}

/** Walks the whole state at a root; missing and malformed nodes are reported with the height of its block. */
export function walkState(
  root: Hex,
  height: number,
  { nodes, code }: Pick<AuditedTables, 'nodes' | 'code'>,
): WalkedState {
  let [nodeCount, longValues] = [0, 0]

  function stored(hash: Hex): TrieNode | undefined {
    const bytes = nodes.get(hash)
    if (bytes === undefined) {
      nodes.fault(hash, 'a state needs this node, which is missing', { height })
      return undefined
    }
    nodeCount++
    try {
      return decodeNode(bytes)
    } catch {
      nodes.fault(hash, 'the bytes are not a trie node', { height })
      return undefined
    }
  }

  const top = root === EMPTY_TRIE_ROOT ? undefined : stored(root)
  const waiting: TrieChild[] = top === undefined ? [] : [top]
  for (let child = waiting.pop(); child !== undefined; child = waiting.pop()) {
    const node = child instanceof NodeHash ? stored(child.hex) : child
    if (node === undefined) continue
    const { value, left, right } = node
    if (value !== undefined && !(value instanceof Uint8Array)) {
      longValues++
      const { length } = code.get(value.hash.hex) ?? {}
      if (length !== value.length) {
        const expected = `${value.length} bytes`
        const found = length === undefined ? 'nothing' : `${length} bytes`
        code.fault(value.hash.hex, 'a state needs this value', { height, expected, found })
      }
    }
    if (left !== undefined) waiting.push(left)
    if (right !== undefined) waiting.push(right)
  }
  return { nodes: nodeCount, longValues }
}
