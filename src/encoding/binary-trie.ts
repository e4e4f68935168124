/** In-memory tries of byte strings (RSKIP-107): values under keys, the root hash, and proofs; for ordered lists above all. */
import { concat, EMPTY, equal, oneByte } from './bytes.ts'
import { keccak256 } from './hash.ts'
import { type Hex, toHex } from './hex.ts'
import { orchidNodeHash } from './orchid-node.ts'
import { RLP_EMPTY } from './rlp.ts'
import { frameString } from './rlp-frame.ts'
import { NodeHash, type TrieNode } from './trie-node.ts'
import { bitsOf } from './trie-path.ts'
import { type LoadNode, type TrieEdit, updateTrie } from './trie-update.ts'

/** Root hash of a trie without keys: keccak-256 of 0x80. */
export const EMPTY_ROOT = keccak256(RLP_EMPTY)

/** An in-memory trie never has to load a node. */
const nothingToLoad: LoadNode = (hash) => {
  throw new Error(`an in-memory trie refers to ${hash.hex}`)
}

/** A mutable map of byte strings with a root hash (docs/internals/protocol.md#57-trie-nodes). Keeps everything in memory. */
export class BinaryTrie {
  #root: TrieNode | undefined

  /** Sets a value; the empty value deletes. Values are at most 2^24 - 1 bytes. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.update([{ key, value }])
  }

  /** Removes a key; nothing happens when it is absent. */
  delete(key: Uint8Array): void {
    this.update([{ key, value: undefined }])
  }

  /** Applies changes of different keys in one pass. */
  update(edits: readonly TrieEdit[]): void {
    this.#root = updateTrie(this.#root, edits, nothingToLoad)
  }

  /** The value under a key, or `undefined`. */
  get(key: Uint8Array): Uint8Array | undefined {
    const value = this.#path(key).at(-1)?.value
    return value === undefined || value instanceof Uint8Array ? value : value.bytes
  }

  /** Hash of the root node; of an empty trie keccak-256 of 0x80. */
  root(): Hex {
    return this.#root === undefined ? toHex(EMPTY_ROOT) : this.#root.hash.hex
  }

  /** The root hash in the format before RSKIP-126, of a trie whose keys are not hashes. */
  orchidRoot(): Hex {
    return toHex(this.#root === undefined ? EMPTY_ROOT : orchidHash(this.#root))
  }

  /** The root node's bytes; empty for an empty trie. */
  rootNode(): Uint8Array {
    return this.#root === undefined ? EMPTY : this.#root.bytes
  }

  /**
   * Bytes of the nodes from the one that holds `key` up to the root, those embedded in their parent included
   * (docs/internals/protocol.md#55-receipts); empty when the key has no value.
   */
  proof(key: Uint8Array): Uint8Array[] {
    return this.#path(key)
      .map((node) => node.bytes)
      .reverse()
  }

  /** Nodes from the root to the one that holds `key`; empty when it has no value. */
  #path(key: Uint8Array): TrieNode[] {
    const path: TrieNode[] = []
    let bits = bitsOf(key)
    let node = this.#root
    while (node !== undefined) {
      const { length } = node.path
      if (bits.length < length || !equal(node.path, bits.subarray(0, length))) return []
      path.push(node)
      if (bits.length === length) return node.value === undefined ? [] : path
      const child = bits[length] === 0 ? node.left : node.right
      node = child instanceof NodeHash ? nothingToLoad(child) : child
      bits = bits.subarray(length + 1)
    }
    return []
  }
}

function orchidHash({ path, value, left, right }: TrieNode): Uint8Array {
  const hashOf = (child: TrieNode | NodeHash | undefined): Uint8Array | undefined =>
    child && orchidHash(child instanceof NodeHash ? nothingToLoad(child) : child)
  return orchidNodeHash({
    path,
    value: value instanceof Uint8Array ? value : value?.bytes,
    left: hashOf(left),
    right: hashOf(right),
    isSecure: false,
  })
}

/** RLP of a list index, the key of an item: 80, 01, …, 7f, 8180, … */
function indexKey(index: number): Uint8Array {
  return index === 0 ? RLP_EMPTY : frameString(indexBytes(index))
}

function indexBytes(index: number): Uint8Array {
  return index < 0x100 ? oneByte(index) : concat(indexBytes(Math.floor(index / 0x100)), oneByte(index))
}

function trieOf(values: readonly Uint8Array[], hashes?: readonly Hex[]): BinaryTrie {
  const trie = new BinaryTrie()
  trie.update(values.map((value, index) => ({ key: indexKey(index), value, hash: hashes?.[index] })))
  return trie
}

/**
 * Root of the trie that holds each value under the RLP of its index (docs/internals/protocol.md#55-receipts):
 * transactions and receipts. `hashes`: keccak-256 of each value, where the caller knows it.
 */
export function binaryTrieRoot(values: readonly Uint8Array[], hashes?: readonly Hex[]): Hex {
  return trieOf(values, hashes).root()
}

/** The same root in the format before RSKIP-126. */
export function orchidListRoot(values: readonly Uint8Array[]): Hex {
  return trieOf(values).orchidRoot()
}

/**
 * Node bytes that prove the value at `index`, leaf first, root last (docs/internals/protocol.md#55-receipts). Throws a
 * RangeError outside the list.
 */
export function binaryTrieProof(values: readonly Uint8Array[], index: number): Uint8Array[] {
  if (values[index] === undefined) throw new RangeError(`no value at index ${index}`)
  return trieOf(values).proof(indexKey(index))
}
