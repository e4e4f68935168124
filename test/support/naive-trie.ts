/** The unified trie (RSKIP-107) by single insertions and removals, all in memory: what batched updates are compared with. */
import { concat, EMPTY, equal, oneByte } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { RLP_EMPTY } from '../../src/encoding/rlp.ts'

/** One node. Immutable but for `encoded`, which is filled in when its bytes are first asked for. */
interface TrieNode {
  /** The bits between the branch that leads here and this node, one per element. */
  readonly path: Uint8Array
  readonly value: Uint8Array | undefined
  readonly left: TrieNode | undefined
  readonly right: TrieNode | undefined
  encoded: EncodedNode | undefined
}

interface EncodedNode {
  readonly bytes: Uint8Array
  /** Serialized size of everything below, long values included. */
  readonly childrenSize: number
  readonly embedded: boolean
  /** 32 bytes; computed when a parent or the caller needs it. */
  hash: Uint8Array | undefined
}

/** A leaf whose serialization is no longer than this is written inside its parent. */
const EMBEDDED_MAX = 44
/** A longer value stands outside the node, under its hash. */
const SHORT_VALUE_MAX = 32
const EMPTY_ROOT = keccak256(RLP_EMPTY)

const VERSION = 0x40
const LONG_VALUE = 0x20
const HAS_PATH = 0x10
const HAS_LEFT = 0x08
const HAS_RIGHT = 0x04
const LEFT_EMBEDDED = 0x02
const RIGHT_EMBEDDED = 0x01

function nodeOf(
  path: Uint8Array,
  value: Uint8Array | undefined,
  left: TrieNode | undefined,
  right: TrieNode | undefined,
): TrieNode {
  return { path, value, left, right, encoded: undefined }
}

function bitsOf(key: Uint8Array): Uint8Array {
  const bits = new Uint8Array(key.length * 8)
  for (let i = 0; i < bits.length; i++) bits[i] = ((key[i >> 3] as number) >> (7 - (i & 7))) & 1
  return bits
}

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length)
  let i = 0
  while (i < limit && a[i] === b[i]) i++
  return i
}

function withChild(node: TrieNode, bit: number, child: TrieNode | undefined): TrieNode {
  return bit === 0
    ? nodeOf(node.path, node.value, child, node.right)
    : nodeOf(node.path, node.value, node.left, child)
}

function insert(node: TrieNode | undefined, bits: Uint8Array, value: Uint8Array): TrieNode {
  if (node === undefined) return nodeOf(bits, value, undefined, undefined)
  const shared = sharedLength(node.path, bits)
  if (shared < node.path.length) {
    const below = nodeOf(node.path.subarray(shared + 1), node.value, node.left, node.right)
    const fork = nodeOf(node.path.subarray(0, shared), undefined, undefined, undefined)
    return insert(withChild(fork, node.path[shared] as number, below), bits, value)
  }
  if (shared === bits.length) return nodeOf(node.path, value, node.left, node.right)
  const bit = bits[shared] as number
  return withChild(node, bit, insert(bit === 0 ? node.left : node.right, bits.subarray(shared + 1), value))
}

function remove(node: TrieNode | undefined, bits: Uint8Array): TrieNode | undefined {
  if (node === undefined) return undefined
  const shared = sharedLength(node.path, bits)
  if (shared < node.path.length) return node
  if (shared === bits.length) {
    return node.value === undefined ? node : joined(nodeOf(node.path, undefined, node.left, node.right))
  }
  const bit = bits[shared] as number
  const child = bit === 0 ? node.left : node.right
  const changed = remove(child, bits.subarray(shared + 1))
  return changed === child ? node : joined(withChild(node, bit, changed))
}

/** A node without value lives only as a fork: with one child it becomes that child, with none it goes. */
function joined(node: TrieNode): TrieNode | undefined {
  if (node.value !== undefined) return node
  if (node.left !== undefined && node.right !== undefined) return node
  const only = node.left ?? node.right
  if (only === undefined) return undefined
  const bit = oneByte(node.left === undefined ? 1 : 0)
  return nodeOf(concat(node.path, bit, only.path), only.value, only.left, only.right)
}

function packedBits(bits: Uint8Array): Uint8Array {
  const out = new Uint8Array((bits.length + 7) >> 3)
  for (let i = 0; i < bits.length; i++) {
    out[i >> 3] = (out[i >> 3] as number) | ((bits[i] as number) << (7 - (i & 7)))
  }
  return out
}

/** The parent chain's CompactSize. */
function compactSize(value: number): Uint8Array {
  if (value < 0xfd) return oneByte(value)
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >> 8)
  const out = new Uint8Array(value <= 0xffff_ffff ? 5 : 9)
  const view = new DataView(out.buffer)
  if (out.length === 5) view.setUint32(1, value, true)
  else view.setBigUint64(1, BigInt(value), true)
  out[0] = out.length === 5 ? 0xfe : 0xff
  return out
}

function pathLengthPrefix(bits: number): Uint8Array {
  if (bits <= 32) return oneByte(bits - 1)
  if (bits >= 160 && bits <= 382) return oneByte(bits - 128)
  return concat(oneByte(0xff), compactSize(bits))
}

function isLong(value: Uint8Array | undefined): value is Uint8Array {
  return value !== undefined && value.length > SHORT_VALUE_MAX
}

function hashOf(node: TrieNode): Uint8Array {
  const encoded = encodeNode(node)
  encoded.hash ??= keccak256(encoded.bytes)
  return encoded.hash
}

/** What a parent writes for a child: its bytes behind their length, or its hash. */
function reference(child: TrieNode): Uint8Array {
  const { bytes, embedded } = encodeNode(child)
  return embedded ? concat(oneByte(bytes.length), bytes) : hashOf(child)
}

function subtreeSize(child: TrieNode): number {
  const { bytes, childrenSize } = encodeNode(child)
  return childrenSize + bytes.length + (isLong(child.value) ? child.value.length : 0)
}

function encodeNode(node: TrieNode): EncodedNode {
  if (node.encoded !== undefined) return node.encoded
  const { path, value, left, right } = node
  let flags = VERSION
  let childrenSize = 0
  const parts: Uint8Array[] = [EMPTY]
  if (path.length > 0) {
    flags |= HAS_PATH
    parts.push(pathLengthPrefix(path.length), packedBits(path))
  }
  if (left !== undefined) {
    flags |= encodeNode(left).embedded ? HAS_LEFT | LEFT_EMBEDDED : HAS_LEFT
    childrenSize += subtreeSize(left)
    parts.push(reference(left))
  }
  if (right !== undefined) {
    flags |= encodeNode(right).embedded ? HAS_RIGHT | RIGHT_EMBEDDED : HAS_RIGHT
    childrenSize += subtreeSize(right)
    parts.push(reference(right))
  }
  const isLeaf = left === undefined && right === undefined
  if (!isLeaf) parts.push(compactSize(childrenSize))
  if (isLong(value)) {
    flags |= LONG_VALUE
    parts.push(keccak256(value), Uint8Array.of(value.length >> 16, value.length >> 8, value.length))
  } else if (value !== undefined) {
    parts.push(value)
  }
  parts[0] = oneByte(flags)
  const bytes = concat(...parts)
  node.encoded = { bytes, childrenSize, embedded: isLeaf && bytes.length <= EMBEDDED_MAX, hash: undefined }
  return node.encoded
}

/** A mutable map of byte strings with a root hash (docs/internals/protocol.md#57-trie-nodes). Keeps everything in memory. */
export class NaiveTrie {
  #root: TrieNode | undefined

  /** Sets a value; the empty value deletes. Values are at most 2^24 - 1 bytes. */
  put(key: Uint8Array, value: Uint8Array): void {
    const bits = bitsOf(key)
    this.#root = value.length === 0 ? remove(this.#root, bits) : insert(this.#root, bits, value)
  }

  /** Removes a key; nothing happens when it is absent. */
  delete(key: Uint8Array): void {
    this.#root = remove(this.#root, bitsOf(key))
  }

  /** The value under a key, or `undefined`. */
  get(key: Uint8Array): Uint8Array | undefined {
    return this.#path(key).at(-1)?.value
  }

  /** Hash of the root node; of an empty trie keccak-256 of 0x80. */
  root(): Hex {
    return toHex(this.#root === undefined ? EMPTY_ROOT : hashOf(this.#root))
  }

  /** The root node's bytes; empty for an empty trie. */
  rootNode(): Uint8Array {
    return this.#root === undefined ? EMPTY : encodeNode(this.#root).bytes
  }

  /**
   * Bytes of the nodes from the one that holds `key` up to the root, those embedded in their parent included
   * (docs/internals/protocol.md#55-receipts); empty when the key has no value.
   */
  proof(key: Uint8Array): Uint8Array[] {
    return this.#path(key)
      .map((node) => encodeNode(node).bytes)
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
      node = bits[length] === 0 ? node.left : node.right
      bits = bits.subarray(length + 1)
    }
    return []
  }
}
