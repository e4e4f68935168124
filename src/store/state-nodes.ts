/** Trie nodes and code on disk, in the shape in which states are read and committed. */
import { LRUCache } from 'lru-cache'
import type { Hex } from '../encoding/hex.ts'
import type { KeyValueReader, Write } from './table.ts'
import { type StateTables, stateTables } from './tables.ts'

/** Bytes of cached code. The same array for the same code lets its reader cache the analysis. */
const CODE_CACHE_BYTES = 16 << 20

/** Nodes and code by their keccak-256; `undefined` when unknown. */
export interface StateNodes {
  node(hash: Hex): Uint8Array | undefined
  code(hash: Hex): Uint8Array | undefined
}

/** Reads nodes and code from a database. Nodes are not cached here: whoever decodes them keeps them decoded. */
export function nodeSource(reader: KeyValueReader): StateNodes {
  const { nodes, code } = stateTables(reader)
  const recentCode = new LRUCache<Hex, Uint8Array>({
    maxSize: CODE_CACHE_BYTES,
    sizeCalculation: (bytes) => Math.max(1, bytes.length),
  })
  return {
    node: (hash) => nodes.get(hash),
    code(hash) {
      const known = recentCode.get(hash)
      if (known !== undefined) return known
      // A copy: a store in memory returns a view of a large buffer, and a view keeps the whole buffer alive.
      const found = code.get(hash)?.slice()
      if (found !== undefined) recentCode.set(hash, found)
      return found
    },
  }
}

/** Keys depend on no database, so one description of the tables serves all writes. */
const describe: StateTables = stateTables({
  get: () => undefined,
  async *entries() {},
})

/** The writes that make a committed state readable. */
export function putCommitted(committed: {
  readonly nodes: ReadonlyMap<Hex, Uint8Array>
  readonly code: ReadonlyMap<Hex, Uint8Array>
}): Write[] {
  const writes: Write[] = []
  for (const [hash, rlp] of committed.nodes) writes.push(describe.nodes.put(hash, rlp))
  for (const [hash, bytes] of committed.code) writes.push(describe.code.put(hash, bytes))
  return writes
}
