/** Many changes to a hexary trie in one pass: every changed node is made, hashed and reported once. */
import { EMPTY_TRIE_ROOT } from '../chain/account.ts'
import { compare, concat, equal } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import {
  type Branch,
  type Child,
  type Extension,
  encodeNode,
  HASH_LENGTH,
  type Leaf,
  type MptNode,
  nibbleAt,
  nibblesFrom,
  sharedNibbles,
  textOf,
} from './trie-node.ts'
import type { LoadNode } from './trie-read.ts'

/** A new value for a key, or `undefined` to remove it. Keys of one trie all have the same length. */
export interface Edit {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
}

/** Receives each new node that is hashed: its hash, its RLP, and the node itself, which is final. */
export type ReportNode = (hash: Hex, rlp: Uint8Array, node: MptNode) => void

/** Where nodes come from and where the new ones go. */
interface Context {
  readonly load: LoadNode
  readonly report: ReportNode
}

/** A run of edits, sorted by key, whose keys agree in their first `depth` nibbles. */
interface Run {
  readonly edits: readonly Edit[]
  readonly from: number
  readonly to: number
  readonly depth: number
}

/**
 * Applies edits (any order, each key once) to the trie at `root` and returns the new root. Reports the new nodes that
 * the new root reaches. Throws what `load` throws.
 */
export function updateTrie(load: LoadNode, root: Hex, edits: readonly Edit[], report: ReportNode): Hex {
  if (edits.length === 0) return root
  const context = { load, report }
  const sorted = edits.toSorted((a, b) => compare(a.key, b.key))
  const before = root === EMPTY_TRIE_ROOT ? undefined : load(root)
  const after = update(context, before, { edits: sorted, from: 0, to: sorted.length, depth: 0 })
  if (after === before) return root
  if (after === undefined) return EMPTY_TRIE_ROOT
  const rlp = encodeNode(after)
  const hash = toHex(keccak256(rlp))
  report(hash, rlp, after)
  return hash
}

/** The node after the edits: the same object when nothing changed, `undefined` when nothing is left. */
function update(context: Context, node: MptNode | undefined, run: Run): MptNode | undefined {
  if (node === undefined) return build(context, { ...run, ...puts(run.edits.slice(run.from, run.to)) })
  if (node.kind === 'branch') return updateBranch(context, node, run)
  return node.kind === 'leaf' ? updateLeaf(context, node, run) : updateExtension(context, node, run)
}

function updateLeaf(context: Context, leaf: Leaf, run: Run): MptNode | undefined {
  const { edits, from, to, depth } = run
  const only = to - from === 1 ? edits[from] : undefined
  if (only?.value !== undefined && compareToPath(only.key, depth, leaf.path) === 0) {
    return equal(only.value, leaf.value) ? leaf : { kind: 'leaf', path: leaf.path, value: only.value }
  }
  let at = from
  let own: Edit | undefined
  while (at < to) {
    const edit = edits[at] as Edit
    const order = compareToPath(edit.key, depth, leaf.path)
    if (order === 0) own = edit
    if (order >= 0) break
    at++
  }
  const value = own === undefined ? leaf.value : own.value
  const kept = value !== undefined && (value === leaf.value || equal(value, leaf.value))
  const others = puts([...edits.slice(from, at), ...edits.slice(own === undefined ? at : at + 1, to)])
  if (others.to === 0) {
    if (kept) return leaf
    return value === undefined ? undefined : { kind: 'leaf', path: leaf.path, value }
  }
  if (value === undefined) return build(context, { ...others, depth })
  const key = own?.key ?? keyOf(leaf.path, (edits[from] as Edit).key, depth)
  const index = others.edits.findIndex((edit) => compare(edit.key, key) > 0)
  const all = others.edits.toSpliced(index < 0 ? others.to : index, 0, { key, value })
  return build(context, { edits: all, from: 0, to: all.length, depth })
}

function updateExtension(context: Context, node: Extension, run: Run): MptNode | undefined {
  const { path } = node
  const relevant: Edit[] = []
  let split = path.length
  for (let i = run.from; i < run.to; i++) {
    const edit = run.edits[i] as Edit
    const shared = sharedNibbles(edit.key, run.depth, path)
    if (shared < path.length && edit.value === undefined) continue
    relevant.push(edit)
    split = Math.min(split, shared)
  }
  if (relevant.length === 0) return node
  const below = { edits: relevant, from: 0, to: relevant.length, depth: run.depth + split }
  if (split === path.length) {
    const before = resolve(context, node.child)
    const after = update(context, before, below)
    if (after === before) return node
    return after === undefined ? undefined : prefixed(context, path, after)
  }
  const rest = path.subarray(split + 1)
  const children: (Child | undefined)[] = new Array(16).fill(undefined)
  children[path[split] as number] =
    rest.length === 0 ? node.child : { kind: 'extension', path: rest, child: node.child }
  const after = updateBranch(context, { kind: 'branch', children }, below)
  return after === undefined ? undefined : prefixed(context, path.subarray(0, split), after)
}

function updateBranch(context: Context, branch: Branch, run: Run): MptNode | undefined {
  let children: (Child | undefined)[] | undefined
  for (const group of groups(run)) {
    const nibble = nibbleAt((run.edits[group.from] as Edit).key, run.depth)
    const child = branch.children[nibble]
    const before = child === undefined ? undefined : resolve(context, child)
    const after = update(context, before, group)
    if (after === before) continue
    children ??= [...branch.children]
    children[nibble] = after
  }
  return children === undefined ? branch : normalBranch(context, children)
}

/** A branch of what is left, or what stands for it when fewer than two ways are taken. */
function normalBranch(context: Context, children: (Child | undefined)[]): MptNode | undefined {
  let taken = 0
  let last = 0
  for (let i = 0; i < 16; i++) {
    if (children[i] === undefined) continue
    taken++
    last = i
  }
  const only = children[last]
  if (only === undefined) return undefined
  if (taken === 1) return prefixed(context, Uint8Array.of(last), resolve(context, only))
  for (let i = 0; i < 16; i++) {
    const child = children[i]
    if (child !== undefined && child.kind !== 'hash') children[i] = link(context, child)
  }
  return { kind: 'branch', children }
}

/** A new trie of edits that all put a value. */
function build(context: Context, run: Run): MptNode | undefined {
  const { edits, from, to, depth } = run
  const first = edits[from]
  const last = edits[to - 1]
  if (from === to || first === undefined || last === undefined) return undefined
  const path = nibblesFrom(first.key, depth)
  if (to - from === 1) return { kind: 'leaf', path, value: first.value as Uint8Array }
  const shared = sharedNibbles(last.key, depth, path)
  const children: (Child | undefined)[] = new Array(16).fill(undefined)
  for (const group of groups({ ...run, depth: depth + shared })) {
    children[nibbleAt((edits[group.from] as Edit).key, depth + shared)] = build(context, group)
  }
  const branch = normalBranch(context, children)
  return branch === undefined ? undefined : prefixed(context, path.subarray(0, shared), branch)
}

/** Splits a run by the next nibble. */
function groups({ edits, from, to, depth }: Run): Run[] {
  const out: Run[] = []
  let start = from
  for (let i = from + 1; i <= to; i++) {
    const nibble = nibbleAt((edits[start] as Edit).key, depth)
    if (i < to && nibbleAt((edits[i] as Edit).key, depth) === nibble) continue
    out.push({ edits, from: start, to: i, depth: depth + 1 })
    start = i
  }
  return out
}

/** A node behind some more nibbles; a leaf or an extension takes them into its own path. */
function prefixed(context: Context, prefix: Uint8Array, node: MptNode): MptNode {
  if (prefix.length === 0) return node
  if (node.kind === 'branch') return { kind: 'extension', path: prefix, child: link(context, node) }
  return { ...node, path: concat(prefix, node.path) }
}

/** What a parent holds of a finished node; a node that is hashed is reported here. */
function link(context: Context, node: MptNode): Child {
  const rlp = encodeNode(node)
  if (rlp.length < HASH_LENGTH) return node
  const bytes = keccak256(rlp)
  const text = toHex(bytes)
  context.report(text, rlp, node)
  return { kind: 'hash', bytes, text }
}

function resolve(context: Context, child: Child): MptNode {
  return child.kind === 'hash' ? context.load(textOf(child)) : child
}

/** The edits that put a value, as a run of their own. */
function puts(edits: readonly Edit[]): Omit<Run, 'depth'> {
  const kept = edits.filter((edit) => edit.value !== undefined)
  return { edits: kept, from: 0, to: kept.length }
}

/** Order of a key, from nibble `depth` on, and a path that reaches as far. */
function compareToPath(key: Uint8Array, depth: number, path: Uint8Array): number {
  const shared = sharedNibbles(key, depth, path)
  return shared === path.length ? 0 : nibbleAt(key, depth + shared) - (path[shared] as number)
}

/** The whole key of a leaf at `depth`, given any key that leads to the same place. */
function keyOf(path: Uint8Array, sibling: Uint8Array, depth: number): Uint8Array {
  const key = new Uint8Array(sibling.length)
  for (let i = 0; i < key.length * 2; i++) {
    const nibble = i < depth ? nibbleAt(sibling, i) : (path[i - depth] as number)
    key[i >> 1] = (key[i >> 1] as number) | ((i & 1) === 0 ? nibble << 4 : nibble)
  }
  return key
}
