/** Nodes of a hexary Merkle-Patricia trie whose keys all have one length, and their RLP both ways (Yellow Paper, appendix D). */
import { type Hex, toHex } from '../encoding/hex.ts'
import {
  framedLength,
  itemEnd,
  LIST,
  payloadStart,
  STRING,
  stringLength,
  writePrefix,
  writeString,
} from '../encoding/rlp-frame.ts'

/** A reference to a node below: the keccak-256 of its RLP, or the node itself when its RLP is shorter than a hash. */
export type Child = NodeHash | MptNode

/** The hash of a node. As text, under which nodes are found, it is spelled once, when it is first needed. */
export interface NodeHash {
  readonly kind: 'hash'
  readonly bytes: Uint8Array
  text: Hex | undefined
}

/** A value at the end of `path`, which holds one nibble per byte. */
export interface Leaf {
  readonly kind: 'leaf'
  readonly path: Uint8Array
  readonly value: Uint8Array
}

/** Nibbles that all keys below share; `child` is a branch. */
export interface Extension {
  readonly kind: 'extension'
  readonly path: Uint8Array
  readonly child: Child
}

/** Sixteen ways on, at least two of them taken. Holds no value itself: no key is the beginning of another. */
export interface Branch {
  readonly kind: 'branch'
  readonly children: readonly (Child | undefined)[]
}

export type MptNode = Leaf | Extension | Branch

/** The text of a node's hash. */
export function textOf(hash: NodeHash): Hex {
  hash.text ??= toHex(hash.bytes)
  return hash.text
}

/** Nodes with a shorter RLP stand in their parent instead of being hashed. */
export const HASH_LENGTH = 32

/** The half byte at position `index` of a key. */
export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1] as number
  return (index & 1) === 0 ? byte >> 4 : byte & 15
}

/** The nibbles of a key from position `start` on, one per byte. */
export function nibblesFrom(key: Uint8Array, start: number): Uint8Array {
  const out = new Uint8Array(key.length * 2 - start)
  for (let i = 0; i < out.length; i++) out[i] = nibbleAt(key, start + i)
  return out
}

/** How many nibbles of `path` the key follows from position `start` on. */
export function sharedNibbles(key: Uint8Array, start: number, path: Uint8Array): number {
  let shared = 0
  while (shared < path.length && nibbleAt(key, start + shared) === path[shared]) shared++
  return shared
}

/** Hex-prefix encoding: nibbles two to a byte, behind a flag of oddness and leafhood. */
export function compactPath(path: Uint8Array, leaf: boolean): Uint8Array {
  const odd = path.length & 1
  const out = new Uint8Array((path.length >> 1) + 1)
  out[0] = (leaf ? 0x20 : 0) | (odd === 1 ? 0x10 | (path[0] as number) : 0)
  for (let from = odd, to = 1; from < path.length; from += 2, to++) {
    out[to] = ((path[from] as number) << 4) | (path[from + 1] as number)
  }
  return out
}

/** RLP of a node. */
export function encodeNode(node: MptNode): Uint8Array {
  return node.kind === 'branch' ? encodeBranch(node) : encodePair(node)
}

/** The node that `rlp` holds, as views into it; throws a RangeError when it is no such node. */
export function decodeNode(rlp: Uint8Array): MptNode {
  if (rlp.length === 0 || endOf(rlp, 0) !== rlp.length) throw malformed()
  return decodeAt(rlp, 0)
}

function encodePair(node: Leaf | Extension): Uint8Array {
  const path = compactPath(node.path, node.kind === 'leaf')
  let text: Uint8Array | undefined
  let inline: Uint8Array | undefined
  if (node.kind === 'leaf') text = node.value
  else if (node.child.kind === 'hash') text = node.child.bytes
  else inline = encodeNode(node.child)
  const payload =
    stringLength(path) + (text === undefined ? (inline as Uint8Array).length : stringLength(text))
  const out = new Uint8Array(framedLength(payload))
  const at = writeString(out, writePrefix(out, 0, LIST, payload), path)
  if (text === undefined) out.set(inline as Uint8Array, at)
  else writeString(out, at, text)
  return out
}

function encodeBranch({ children }: Branch): Uint8Array {
  const inline: (Uint8Array | undefined)[] = []
  let payload = 1
  for (const child of children) {
    if (child === undefined) payload += 1
    else if (child.kind === 'hash') payload += HASH_LENGTH + 1
    else {
      const rlp = encodeNode(child)
      inline.push(rlp)
      payload += rlp.length
    }
  }
  const out = new Uint8Array(framedLength(payload))
  let at = writePrefix(out, 0, LIST, payload)
  let nextInline = 0
  for (const child of children) {
    if (child === undefined) out[at++] = STRING
    else if (child.kind === 'hash') {
      out[at] = STRING + HASH_LENGTH
      out.set(child.bytes, at + 1)
      at += HASH_LENGTH + 1
    } else {
      const rlp = inline[nextInline++] as Uint8Array
      out.set(rlp, at)
      at += rlp.length
    }
  }
  out[at] = STRING
  return out
}

function decodeAt(bytes: Uint8Array, at: number): MptNode {
  if ((bytes[at] as number) < LIST) throw malformed()
  const end = endOf(bytes, at)
  const starts: number[] = []
  let next = payloadStart(bytes, at)
  while (next < end) {
    starts.push(next)
    next = endOf(bytes, next)
  }
  if (next !== end) throw malformed()
  if (starts.length === 17) {
    const children: (Child | undefined)[] = []
    for (let i = 0; i < 16; i++) children.push(decodeChild(bytes, starts[i] as number))
    if (bytes[starts[16] as number] !== STRING) throw malformed()
    return { kind: 'branch', children }
  }
  const [first, second] = starts
  if (starts.length !== 2 || first === undefined || second === undefined) throw malformed()
  const compact = decodeString(bytes, first)
  const flags = compact[0] ?? 0xff
  if (flags >= 0x40) throw malformed()
  const path = nibblesFrom(compact, (flags & 0x10) === 0 ? 2 : 1)
  if ((flags & 0x20) !== 0) return { kind: 'leaf', path, value: decodeString(bytes, second) }
  const child = decodeChild(bytes, second)
  if (child === undefined) throw malformed()
  return { kind: 'extension', path, child }
}

function decodeChild(bytes: Uint8Array, at: number): Child | undefined {
  const prefix = bytes[at] as number
  if (prefix === STRING) return undefined
  if (prefix === STRING + HASH_LENGTH) {
    return { kind: 'hash', bytes: bytes.subarray(at + 1, at + 1 + HASH_LENGTH), text: undefined }
  }
  return decodeAt(bytes, at)
}

function decodeString(bytes: Uint8Array, at: number): Uint8Array {
  if ((bytes[at] as number) >= LIST) throw malformed()
  return bytes.subarray(payloadStart(bytes, at), endOf(bytes, at))
}

function endOf(bytes: Uint8Array, at: number): number {
  const end = itemEnd(bytes, at)
  if (end > bytes.length) throw malformed()
  return end
}

function malformed(): RangeError {
  return new RangeError('malformed trie node')
}
