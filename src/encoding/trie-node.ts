/** Nodes of the unified binary trie (RSKIP-107) and their bytes, both ways (docs/internals/protocol.md#57-trie-nodes). */
import { EMPTY, roomFor } from './bytes.ts'
import { HASH_BYTES, keccakHex } from './hash.ts'
import { fromHex, type Hex, toHex, writeHex } from './hex.ts'
import { bitsOf, compactSizeBytes, pathLengthBytes, writeCompactSize, writePath } from './trie-path.ts'

/** A leaf whose bytes are no longer than this is written inside its parent. */
const MAX_EMBEDDED_BYTES = 44
/** A longer value stands outside its node, under its hash. */
const MAX_SHORT_VALUE = 32

const VERSION = 0x40
const LONG_VALUE = 0x20
const HAS_PATH = 0x10
const HAS_LEFT = 0x08
const HAS_RIGHT = 0x04
const LEFT_EMBEDDED = 0x02
const RIGHT_EMBEDDED = 0x01

const NO_BITS = EMPTY

/** The hash of a stored node or value. Read from a node, it is a view of that node's bytes until it is looked up. */
export class NodeHash {
  #bytes: Uint8Array | undefined
  #hex: Hex | undefined

  private constructor(bytes: Uint8Array | undefined, hex: Hex | undefined) {
    this.#bytes = bytes
    this.#hex = hex
  }

  /** The hash of these bytes, kept as text only: an array of 32 bytes takes twice as much memory. */
  static of(bytes: Uint8Array): NodeHash {
    return new NodeHash(undefined, keccakHex(bytes))
  }

  static fromBytes(hash: Uint8Array): NodeHash {
    return new NodeHash(hash, undefined)
  }

  static fromHex(hash: Hex): NodeHash {
    return new NodeHash(undefined, hash)
  }

  get hex(): Hex {
    this.#hex ??= toHex(this.#bytes as Uint8Array)
    return this.#hex
  }

  get bytes(): Uint8Array {
    return this.#bytes ?? fromHex(this.#hex as Hex)
  }

  /** Writes the 32 bytes. */
  writeTo(into: Uint8Array, at: number): void {
    if (this.#bytes === undefined) writeHex(into, at, this.#hex as Hex)
    else into.set(this.#bytes, at)
  }
}

/** A value of over 32 bytes. `bytes` is absent when only the node that refers to it has been read. */
export interface LongValue {
  readonly hash: NodeHash
  readonly length: number
  readonly bytes: Uint8Array | undefined
}

/** A value that is stored in its node, or one that is stored under its hash. */
export type TrieValue = Uint8Array | LongValue

/** A child in memory, or the hash under which it is stored. */
export type TrieChild = TrieNode | NodeHash

/** The value of these bytes, at most 2^24 - 1 of them; `hash` is their keccak-256 where that is known. */
export function trieValue(bytes: Uint8Array, hash?: Hex): TrieValue {
  if (bytes.length <= MAX_SHORT_VALUE) return bytes
  return {
    hash: hash === undefined ? NodeHash.of(bytes) : NodeHash.fromHex(hash),
    length: bytes.length,
    bytes,
  }
}

/** One node. Its bytes and hash are computed when they are first asked for. */
export class TrieNode {
  /** The bits between the branch that leads here and this node, one per element. */
  readonly path: Uint8Array
  readonly value: TrieValue | undefined
  #left: TrieChild | undefined
  #right: TrieChild | undefined
  /** Serialized size of everything below, long values included, bytes. */
  readonly childrenSize: number
  #bytes: Uint8Array | undefined
  /** Length of `#bytes`; 0 until they are made. */
  #length: number
  #hash: NodeHash | undefined

  constructor(
    path: Uint8Array,
    value: TrieValue | undefined,
    left: TrieChild | undefined,
    right: TrieChild | undefined,
    childrenSize: number,
    bytes?: Uint8Array,
  ) {
    this.path = path
    this.value = value
    this.#left = left
    this.#right = right
    this.childrenSize = childrenSize
    this.#bytes = bytes
    this.#length = bytes?.length ?? 0
  }

  get left(): TrieChild | undefined {
    return this.#left
  }

  get right(): TrieChild | undefined {
    return this.#right
  }

  /** The node's serialization, over which its hash is computed. */
  get bytes(): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes
    const bytes = encodeNode(this)
    // A stored node has dropped its bytes: kept again, they would keep encodings of other nodes in memory.
    if (this.#length === 0) this.#bytes = bytes
    this.#length = bytes.length
    return bytes
  }

  /** Length of the serialization. */
  get length(): number {
    return this.#length === 0 ? this.bytes.length : this.#length
  }

  get hash(): NodeHash {
    this.#hash ??= NodeHash.of(this.bytes)
    return this.#hash
  }

  get isLeaf(): boolean {
    return this.#left === undefined && this.#right === undefined
  }

  /** Is the node written inside its parent? */
  get isEmbedded(): boolean {
    return this.isLeaf && this.length <= MAX_EMBEDDED_BYTES
  }

  /** What a parent counts for this node and everything below it, bytes. */
  get size(): number {
    const { value } = this
    const longValue = value === undefined || value instanceof Uint8Array ? 0 : value.length
    return this.childrenSize + this.length + longValue
  }

  /**
   * Once the node and its children are stored: replaces the children by their hashes and drops the bytes, so that
   * a cached node keeps nothing else in memory.
   */
  detach(): void {
    if (this.#left instanceof TrieNode && !this.#left.isEmbedded) this.#left = this.#left.hash
    if (this.#right instanceof TrieNode && !this.#right.isEmbedded) this.#right = this.#right.hash
    if (!this.isEmbedded) this.#bytes = undefined
  }
}

/**
 * Writes into one array of the right length: a block encodes dozens of nodes, and joining parts costs more than writing
 * the bytes.
 */
function encodeNode({ path, value, left, right, childrenSize }: TrieNode): Uint8Array {
  const isLeaf = left === undefined && right === undefined
  const leftReference = left && referenceTo(left)
  const rightReference = right && referenceTo(right)
  const bytes = roomFor(
    1 +
      (path.length > 0 ? pathLengthBytes(path.length) + ((path.length + 7) >> 3) : 0) +
      referenceBytes(leftReference) +
      referenceBytes(rightReference) +
      (isLeaf ? 0 : compactSizeBytes(childrenSize)) +
      (value === undefined ? 0 : value instanceof Uint8Array ? value.length : HASH_BYTES + 3),
  )
  let flags = VERSION
  let at = 1
  if (path.length > 0) {
    flags |= HAS_PATH
    at = writePath(bytes, at, path)
  }
  if (leftReference !== undefined) {
    flags |= leftReference instanceof NodeHash ? HAS_LEFT : HAS_LEFT | LEFT_EMBEDDED
    at = writeReference(bytes, at, leftReference)
  }
  if (rightReference !== undefined) {
    flags |= rightReference instanceof NodeHash ? HAS_RIGHT : HAS_RIGHT | RIGHT_EMBEDDED
    at = writeReference(bytes, at, rightReference)
  }
  if (!isLeaf) at = writeCompactSize(bytes, at, childrenSize)
  if (value instanceof Uint8Array) {
    bytes.set(value, at)
  } else if (value !== undefined) {
    flags |= LONG_VALUE
    const { hash, length } = value
    hash.writeTo(bytes, at)
    bytes[at + HASH_BYTES] = length >> 16
    bytes[at + HASH_BYTES + 1] = length >> 8
    bytes[at + HASH_BYTES + 2] = length
  }
  bytes[0] = flags
  return bytes
}

/** What a parent holds of a child: the bytes of one that is embedded, or a hash. */
function referenceTo(child: TrieChild): Uint8Array | NodeHash {
  if (child instanceof NodeHash) return child
  return child.isEmbedded ? child.bytes : child.hash
}

/** Bytes that a parent writes for a child: an embedded one behind its length, or a hash. */
function referenceBytes(reference: Uint8Array | NodeHash | undefined): number {
  if (reference === undefined) return 0
  return reference instanceof NodeHash ? HASH_BYTES : 1 + reference.length
}

function writeReference(into: Uint8Array, at: number, reference: Uint8Array | NodeHash): number {
  if (reference instanceof NodeHash) {
    reference.writeTo(into, at)
    return at + HASH_BYTES
  }
  into[at] = reference.length
  into.set(reference, at + 1)
  return at + 1 + reference.length
}

/** Reads a node. Throws a RangeError when the bytes are not those of a node. */
export function decodeNode(bytes: Uint8Array): TrieNode {
  const flags = bytes[0]
  if (flags === undefined || (flags & 0xc0) !== VERSION)
    throw new RangeError('a node of the binary trie has an unknown format')
  const reader = new NodeReader(bytes)
  const path = (flags & HAS_PATH) === 0 ? NO_BITS : reader.path()
  const left = (flags & HAS_LEFT) === 0 ? undefined : reader.child((flags & LEFT_EMBEDDED) !== 0)
  const right = (flags & HAS_RIGHT) === 0 ? undefined : reader.child((flags & RIGHT_EMBEDDED) !== 0)
  const childrenSize = left === undefined && right === undefined ? 0 : reader.compactSize()
  const value = (flags & LONG_VALUE) === 0 ? reader.rest() : reader.longValue()
  return new TrieNode(path, value, left, right, childrenSize, bytes)
}

const CUT_SHORT = 'a node of the binary trie is cut short'

class NodeReader {
  readonly #bytes: Uint8Array
  #at = 1

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError(CUT_SHORT)
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new RangeError(CUT_SHORT)
    this.#at++
    return byte
  }

  path(): Uint8Array {
    const first = this.#byte()
    const length = first <= 31 ? first + 1 : first === 0xff ? this.compactSize() : first + 128
    return bitsOf(this.#take((length + 7) >> 3)).subarray(0, length)
  }

  child(isEmbedded: boolean): TrieChild {
    return isEmbedded ? decodeNode(this.#take(this.#byte())) : NodeHash.fromBytes(this.#take(HASH_BYTES))
  }

  compactSize(): number {
    const first = this.#byte()
    const length = first < 0xfd ? 0 : first === 0xfd ? 2 : first === 0xfe ? 4 : 8
    if (length === 0) return first
    let size = 0
    for (const [index, byte] of this.#take(length).entries()) size += byte * 2 ** (8 * index)
    return size
  }

  longValue(): LongValue {
    if (this.#bytes.length - this.#at !== HASH_BYTES + 3) {
      throw new RangeError('a node of the binary trie has a malformed value')
    }
    const hash = NodeHash.fromBytes(this.#take(HASH_BYTES))
    const [high = 0, middle = 0, low = 0] = this.#take(3)
    return { hash, length: (high << 16) | (middle << 8) | low, bytes: undefined }
  }

  rest(): Uint8Array | undefined {
    return this.#at === this.#bytes.length ? undefined : this.#bytes.subarray(this.#at)
  }
}
