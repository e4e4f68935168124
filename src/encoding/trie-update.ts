/** Many changes to a binary trie in one pass: every changed node is made once (docs/internals/protocol.md#57-trie-nodes). */
import { compare, concat, oneByte } from './bytes.ts'
import type { Hex } from './hex.ts'
import { NodeHash, type TrieChild, TrieNode, trieValue } from './trie-node.ts'
import { bitsOf } from './trie-path.ts'

/** Finds a stored node; throws when it is missing. */
export type LoadNode = (hash: NodeHash) => TrieNode

/** A change under a key: a new value, `undefined` to delete the key, or `subtree` to delete it with all keys below it. */
export interface TrieEdit {
  readonly key: Uint8Array
  /** Absent and empty values delete the key. */
  readonly value: Uint8Array | undefined
  /** keccak-256 of the value where the caller knows it: code and transactions are long, and hashed before. */
  readonly hash?: Hex | undefined
  /** Deletes also every longer key, when the key itself has a value; else nothing. */
  readonly subtree?: true
}

interface BitEdit {
  readonly bits: Uint8Array
  readonly value: Uint8Array | undefined
  readonly hash: Hex | undefined
  readonly subtree: boolean
}

/** How many bits of `path` follow in `bits` from `from` on. */
function sharedBits(path: Uint8Array, bits: Uint8Array, from: number): number {
  const length = Math.min(path.length, bits.length - from)
  let shared = 0
  while (shared < length && path[shared] === bits[from + shared]) shared++
  return shared
}

/**
 * The trie with the changes applied; `undefined` is the empty one. Each key is changed once at most. Throws what `load`
 * throws.
 */
export function updateTrie(
  root: TrieNode | undefined,
  edits: readonly TrieEdit[],
  load: LoadNode,
): TrieNode | undefined {
  if (edits.length === 0) return root
  // Bytes sort like their bits, a key before the keys that it is a prefix of.
  const sorted = [...edits]
    .sort((a, b) => compare(a.key, b.key))
    .map(({ key, value, hash, subtree }) => ({
      bits: bitsOf(key),
      value: value?.length === 0 ? undefined : value,
      hash,
      subtree: subtree === true,
    }))
  return new Update(sorted, load).apply(root, 0, sorted.length, 0)
}

/** One pass. `from` and `to` bound the edits of a subtree, `depth` is the number of bits above it. */
class Update {
  readonly #edits: readonly BitEdit[]
  readonly #load: LoadNode

  constructor(edits: readonly BitEdit[], load: LoadNode) {
    this.#edits = edits
    this.#load = load
  }

  apply(node: TrieNode | undefined, from: number, to: number, depth: number): TrieNode | undefined {
    if (from === to) return node
    if (node === undefined) return this.#create(from, to, depth)
    // The edits are sorted: the bits that the first and the last share with the path, all share.
    const first = this.#bitsAt(from)
    const last = this.#bitsAt(to - 1)
    const shared = Math.min(sharedBits(node.path, first, depth), sharedBits(node.path, last, depth))
    if (shared < node.path.length) return this.#fork(node, shared, from, to, depth)
    return this.#change(node, from, to, depth)
  }

  #bitsAt(index: number): Uint8Array {
    return (this.#edits[index] as BitEdit).bits
  }

  /** The first edit from `from` on whose bit at `depth` is 1. */
  #split(from: number, to: number, depth: number): number {
    let middle = from
    while (middle < to && this.#bitsAt(middle)[depth] === 0) middle++
    return middle
  }

  /** A subtree where there was none, of the edits that set a value. */
  #create(from: number, to: number, depth: number): TrieNode | undefined {
    let start = from
    let end = to
    while (start < end && this.#edits[start]?.value === undefined) start++
    while (end > start && this.#edits[end - 1]?.value === undefined) end--
    if (start === end) return undefined
    const first = this.#edits[start] as BitEdit
    if (end - start === 1) {
      return new TrieNode(
        first.bits.subarray(depth),
        trieValue(first.value as Uint8Array, first.hash),
        undefined,
        undefined,
        0,
      )
    }
    const shared = sharedBits(first.bits.subarray(depth), this.#bitsAt(end - 1), depth)
    const path = first.bits.subarray(depth, depth + shared)
    return this.#change(new TrieNode(path, undefined, undefined, undefined, 0), start, end, depth)
  }

  /**
   * Edits that leave the node's path after `shared` bits: a node without value is put above it, if any edit changes
   * something.
   */
  #fork(node: TrieNode, shared: number, from: number, to: number, depth: number): TrieNode | undefined {
    const rest = new TrieNode(
      node.path.subarray(shared + 1),
      node.value,
      node.left,
      node.right,
      node.childrenSize,
    )
    const path = node.path.subarray(0, shared)
    const fork =
      node.path[shared] === 0
        ? new TrieNode(path, undefined, rest, undefined, rest.size)
        : new TrieNode(path, undefined, undefined, rest, rest.size)
    const changed = this.#change(fork, from, to, depth)
    return changed === fork ? node : changed
  }

  /** The edits apply at the end of the node's path, or below it. */
  #change(node: TrieNode, from: number, to: number, depth: number): TrieNode | undefined {
    const end = depth + node.path.length
    let { value } = node
    let start = from
    const here = this.#edits[from] as BitEdit
    if (here.bits.length === end) {
      start++
      if (here.subtree) {
        if (value !== undefined) return this.#create(start, to, depth)
      } else {
        value = here.value === undefined ? undefined : trieValue(here.value, here.hash)
      }
    }
    const middle = this.#split(start, to, end)
    const left = this.#child(node.left, start, middle, end + 1)
    const right = this.#child(node.right, middle, to, end + 1)
    if (value === node.value && left === undefined && right === undefined) return node
    const newLeft = left === undefined ? node.left : left.child
    const newRight = right === undefined ? node.right : right.child
    const childrenSize = node.childrenSize + (left?.growth ?? 0) + (right?.growth ?? 0)
    return this.#joined(node.path, value, newLeft, newRight, childrenSize)
  }

  /** A child with its edits applied, and by how much its size changes; `undefined` when nothing changes. */
  #child(
    child: TrieChild | undefined,
    from: number,
    to: number,
    depth: number,
  ): { readonly child: TrieNode | undefined; readonly growth: number } | undefined {
    if (from === to) return undefined
    const before = child instanceof NodeHash ? this.#load(child) : child
    const after = this.apply(before, from, to, depth)
    if (after === before) return undefined
    return { child: after, growth: (after?.size ?? 0) - (before?.size ?? 0) }
  }

  /** A node without value needs two children: with one it is replaced by that child, with none it is removed. */
  #joined(
    path: Uint8Array,
    value: TrieNode['value'],
    left: TrieChild | undefined,
    right: TrieChild | undefined,
    childrenSize: number,
  ): TrieNode | undefined {
    if (value === undefined && (left === undefined || right === undefined)) {
      const only = left ?? right
      if (only === undefined) return undefined
      const child = only instanceof NodeHash ? this.#load(only) : only
      const bit = oneByte(left === undefined ? 1 : 0)
      return new TrieNode(
        concat(path, bit, child.path),
        child.value,
        child.left,
        child.right,
        child.childrenSize,
      )
    }
    return new TrieNode(path, value, left, right, childrenSize)
  }
}

/** Receives what has to be stored: a node, or the bytes of a long value, by its hash. */
export interface NewNodes {
  node(hash: Hex, node: TrieNode): void
  value(hash: Hex, bytes: Uint8Array): void
}

/**
 * Reports every node that `updateTrie` made below `root`, children before their parents, and the values that it
 * brought; nodes that are written inside their parent are not reported on their own.
 */
export function reportNewNodes(root: TrieNode, report: NewNodes): void {
  const { left, right, value } = root
  if (left instanceof TrieNode) reportChild(left, report)
  if (right instanceof TrieNode) reportChild(right, report)
  if (value !== undefined && !(value instanceof Uint8Array) && value.bytes !== undefined) {
    report.value(value.hash.hex, value.bytes)
  }
}

function reportChild(child: TrieNode, report: NewNodes): void {
  reportNewNodes(child, report)
  if (!child.isEmbedded) report.node(child.hash.hex, child)
}
