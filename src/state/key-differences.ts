/** The keys under which two tries differ, found by the hashes of their nodes: equal subtrees are not read. */
import { EMPTY, equal } from '../encoding/bytes.ts'
import { NodeHash, type TrieChild, type TrieNode, type TrieValue } from '../encoding/trie-node.ts'
import { packedBits } from '../encoding/trie-path.ts'
import type { LoadNode } from '../encoding/trie-update.ts'

/** One key with its value in both tries. */
export interface KeyDifference {
  readonly key: Uint8Array
  readonly before: TrieValue | undefined
  readonly after: TrieValue | undefined
}

/** A place in a trie: `at` bits of the path of a node have been followed. */
interface Place {
  readonly node: TrieNode
  readonly at: number
}

/** The same bits of the key have led to a place in each trie. */
interface Pair {
  readonly before: Place | undefined
  readonly after: Place | undefined
  readonly bits: Uint8Array
}

function isSameChild(a: TrieChild | undefined, b: TrieChild | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  return (a instanceof NodeHash ? a : a.hash).hex === (b instanceof NodeHash ? b : b.hash).hex
}

function isSameValue(a: TrieValue | undefined, b: TrieValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a instanceof Uint8Array && b instanceof Uint8Array) return equal(a, b)
  return !(a instanceof Uint8Array) && !(b instanceof Uint8Array) && a.hash.hex === b.hash.hex
}

/** The bits of a place's path that are not followed yet. */
const restOf = ({ node, at }: Place): Uint8Array => node.path.subarray(at)

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  let shared = 0
  while (shared < length && a[shared] === b[shared]) shared++
  return shared
}

/** Follows so many bits of the path. */
const moved = (place: Place | undefined, bits: number): Place | undefined =>
  place && { node: place.node, at: place.at + bits }

const isAtEnd = ({ node, at }: Place): boolean => at === node.path.length

const valueAt = (place: Place | undefined): TrieValue | undefined =>
  place !== undefined && isAtEnd(place) ? place.node.value : undefined

function joined(bits: Uint8Array, more: Uint8Array): Uint8Array {
  if (more.length === 0) return bits
  const all = new Uint8Array(bits.length + more.length)
  all.set(bits)
  all.set(more, bits.length)
  return all
}

/**
 * The keys that differ between two tries, in ascending order, a prefix before what it begins. Reads the nodes that
 * differ and nothing else. Throws what `load` throws.
 */
export function* keyDifferences(
  load: LoadNode,
  before: TrieNode | undefined,
  after: TrieNode | undefined,
): Generator<KeyDifference, undefined> {
  if (isSameChild(before, after)) return
  const start = (node: TrieNode | undefined): Place | undefined => node && { node, at: 0 }
  const pairs: Pair[] = [{ before: start(before), after: start(after), bits: EMPTY }]

  /** Where one more bit leads: `child` unless the place is within a path. */
  function follow(place: Place | undefined, bit: 0 | 1): Place | undefined {
    if (place === undefined) return undefined
    if (!isAtEnd(place)) return place.node.path[place.at] === bit ? moved(place, 1) : undefined
    const child = bit === 0 ? place.node.left : place.node.right
    return child && { node: child instanceof NodeHash ? load(child) : child, at: 0 }
  }

  function isSameBelow(a: Place | undefined, b: Place | undefined, bit: 0 | 1): boolean {
    if (a === undefined || b === undefined || !isAtEnd(a) || !isAtEnd(b)) return false
    return bit === 0 ? isSameChild(a.node.left, b.node.left) : isSameChild(a.node.right, b.node.right)
  }

  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const paths = [pair.before, pair.after].flatMap((place) => (place === undefined ? [] : [restOf(place)]))
    const [first = EMPTY, second] = paths
    const path = second === undefined ? first : first.subarray(0, sharedLength(first, second))
    const bits = joined(pair.bits, path)
    const [a, b] = [moved(pair.before, path.length), moved(pair.after, path.length)]
    const [valueBefore, valueAfter] = [valueAt(a), valueAt(b)]
    if (!isSameValue(valueBefore, valueAfter)) {
      yield { key: packedBits(bits), before: valueBefore, after: valueAfter }
    }
    for (const bit of [1, 0] as const) {
      if (isSameBelow(a, b, bit)) continue
      const next = [follow(a, bit), follow(b, bit)] as const
      if (next[0] === undefined && next[1] === undefined) continue
      pairs.push({ before: next[0], after: next[1], bits: joined(bits, Uint8Array.of(bit)) })
    }
  }
}
