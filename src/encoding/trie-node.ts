/** Nodes of the unified binary trie (RSKIP-107) and their bytes, both ways (docs/protocol.md#57-trie-nodes). */
import { concat, EMPTY, oneByte } from './bytes.ts'
import { keccak256 } from './hash.ts'
import { type Hex, toHex } from './hex.ts'

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

/** A hash as bytes, for the parent's encoding, and as text, for lookups. */
export class NodeHash {
  readonly bytes: Uint8Array
  #hex: Hex | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get hex(): Hex {
    this.#hex ??= toHex(this.bytes)
    return this.#hex
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

/** A child that is at hand, or the hash under which it is stored. */
export type TrieChild = TrieNode | NodeHash

/** The value of these bytes, at most 2^24 - 1 of them. */
export function trieValue(bytes: Uint8Array): TrieValue {
  if (bytes.length <= MAX_SHORT_VALUE) return bytes
  return { hash: new NodeHash(keccak256(bytes)), length: bytes.length, bytes }
}

/** One node. Its bytes and hash are computed when they are first asked for. */
export class TrieNode {
  /** The bits between the branch that leads here and this node, one an element. */
  readonly path: Uint8Array
  readonly value: TrieValue | undefined
  readonly left: TrieChild | undefined
  readonly right: TrieChild | undefined
  /** Serialized size of everything below, long values included, bytes. */
  readonly childrenSize: number
  #bytes: Uint8Array | undefined
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
    this.left = left
    this.right = right
    this.childrenSize = childrenSize
    this.#bytes = bytes
  }

  /** The node's serialization; of what its hash is taken. */
  get bytes(): Uint8Array {
    this.#bytes ??= encodeNode(this)
    return this.#bytes
  }

  get hash(): NodeHash {
    this.#hash ??= new NodeHash(keccak256(this.bytes))
    return this.#hash
  }

  get isLeaf(): boolean {
    return this.left === undefined && this.right === undefined
  }

  /** Is the node written inside its parent? */
  get isEmbedded(): boolean {
    return this.isLeaf && this.bytes.length <= MAX_EMBEDDED_BYTES
  }

  /** What a parent counts for this node and everything below it, bytes. */
  get size(): number {
    const { value } = this
    const longValue = value === undefined || value instanceof Uint8Array ? 0 : value.length
    return this.childrenSize + this.bytes.length + longValue
  }
}

function encodeNode({ path, value, left, right, childrenSize }: TrieNode): Uint8Array {
  let flags = VERSION
  const parts: Uint8Array[] = [EMPTY]
  if (path.length > 0) {
    flags |= HAS_PATH
    parts.push(pathLengthPrefix(path.length), packedBits(path))
  }
  if (left !== undefined) {
    flags |= HAS_LEFT
    if (pushReference(parts, left)) flags |= LEFT_EMBEDDED
  }
  if (right !== undefined) {
    flags |= HAS_RIGHT
    if (pushReference(parts, right)) flags |= RIGHT_EMBEDDED
  }
  if (left !== undefined || right !== undefined) parts.push(compactSize(childrenSize))
  if (value instanceof Uint8Array) {
    parts.push(value)
  } else if (value !== undefined) {
    flags |= LONG_VALUE
    const { length } = value
    parts.push(value.hash.bytes, Uint8Array.of(length >> 16, length >> 8, length))
  }
  parts[0] = oneByte(flags)
  return concat(...parts)
}

/** Adds what a parent writes for a child; returns whether the child is embedded. */
function pushReference(parts: Uint8Array[], child: TrieChild): boolean {
  if (child instanceof NodeHash) {
    parts.push(child.bytes)
    return false
  }
  if (!child.isEmbedded) {
    parts.push(child.hash.bytes)
    return false
  }
  parts.push(oneByte(child.bytes.length), child.bytes)
  return true
}

/** Reads a node. Throws a RangeError when the bytes are not those of a node. */
export function decodeNode(bytes: Uint8Array): TrieNode {
  const flags = bytes[0] as number
  if ((flags & 0xc0) !== VERSION) throw new RangeError('not a node of the binary trie')
  const reader = new NodeReader(bytes)
  const path = (flags & HAS_PATH) === 0 ? NO_BITS : reader.path()
  const left = (flags & HAS_LEFT) === 0 ? undefined : reader.child((flags & LEFT_EMBEDDED) !== 0)
  const right = (flags & HAS_RIGHT) === 0 ? undefined : reader.child((flags & RIGHT_EMBEDDED) !== 0)
  const childrenSize = left === undefined && right === undefined ? 0 : reader.compactSize()
  const value = (flags & LONG_VALUE) === 0 ? reader.rest() : reader.longValue()
  return new TrieNode(path, value, left, right, childrenSize, bytes)
}

class NodeReader {
  readonly #bytes: Uint8Array
  #at = 1

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a node of the binary trie is cut off')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  #byte(): number {
    return this.#take(1)[0] as number
  }

  path(): Uint8Array {
    const first = this.#byte()
    const length = first <= 31 ? first + 1 : first === 0xff ? this.compactSize() : first + 128
    return bitsOf(this.#take((length + 7) >> 3)).subarray(0, length)
  }

  child(isEmbedded: boolean): TrieChild {
    return isEmbedded ? decodeNode(this.#take(this.#byte())) : new NodeHash(this.#take(32))
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
    const hash = new NodeHash(this.#take(32))
    const [high = 0, middle = 0, low = 0] = this.#take(3)
    return { hash, length: (high << 16) | (middle << 8) | low, bytes: undefined }
  }

  rest(): Uint8Array | undefined {
    return this.#at === this.#bytes.length ? undefined : this.#bytes.subarray(this.#at)
  }
}

/** The bits of a byte string, most significant first, one an element. */
export function bitsOf(key: Uint8Array): Uint8Array {
  const bits = new Uint8Array(key.length * 8)
  for (let i = 0; i < key.length; i++) {
    const byte = key[i] as number
    const at = i * 8
    for (let bit = 0; bit < 8; bit++) bits[at + bit] = (byte >> (7 - bit)) & 1
  }
  return bits
}

/** Bits, one an element, as bytes, most significant first; the last byte is filled with zeros. */
export function packedBits(bits: Uint8Array): Uint8Array {
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
