/**
 * Maps that changes leave as they were: a change makes a new map, which shares all but a path of nodes with the old one.
 * A map is a snapshot of itself, and two maps are compared in the time of what differs, which `immutable` and other
 * libraries have no function for.
 */

interface Node<V> {
  /** Digits that all keys below have in common. */
  readonly path: string
  /** Of the key that ends here; `undefined` when none does. */
  readonly value: V | undefined
  /** By the digit that follows the path. */
  readonly children: readonly (Node<V> | undefined)[]
  /** Keys here and below. */
  readonly size: number
}

/** A key and its values in two maps; `undefined` where a map lacks it. */
export interface Difference<V> {
  readonly key: string
  readonly before: V | undefined
  readonly after: V | undefined
}

const DIGITS = '0123456789abcdef'
const NONE: readonly undefined[] = []

function digitAt(key: string, at: number): number {
  const code = key.charCodeAt(at)
  return code < 0x3a ? code - 0x30 : code - 0x57
}

function commonLength(a: string, b: string, from: number): number {
  let length = 0
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(from + length)) length++
  return length
}

function nodeOf<V>(path: string, value: V | undefined, children: Node<V>['children']): Node<V> {
  let size = value === undefined ? 0 : 1
  for (const child of children) if (child !== undefined) size += child.size
  return { path, value, children, size }
}

function withChild<V>(node: Node<V>, digit: number, child: Node<V> | undefined): Node<V> {
  const children = node.children.length === 0 ? Array<undefined>(16).fill(undefined) : node.children.slice()
  const changed: (Node<V> | undefined)[] = children
  changed[digit] = child
  return nodeOf(node.path, node.value, changed)
}

function put<V>(node: Node<V> | undefined, key: string, at: number, value: V): Node<V> {
  if (node === undefined) return nodeOf(key.slice(at), value, NONE)
  const { path } = node
  const common = commonLength(path, key, at)
  const end = at + common
  if (common < path.length) {
    const rest = nodeOf(path.slice(common + 1), node.value, node.children)
    const branch = withChild(nodeOf<V>(path.slice(0, common), undefined, NONE), digitAt(path, common), rest)
    return put(branch, key, at, value)
  }
  if (end === key.length) return nodeOf(path, value, node.children)
  const digit = digitAt(key, end)
  return withChild(node, digit, put(node.children[digit], key, end + 1, value))
}

/** Without nodes that hold no value and lead to one node only, so that equal maps have equal nodes. */
function shortened<V>(node: Node<V>): Node<V> | undefined {
  if (node.size === 0) return undefined
  if (node.value !== undefined) return node
  const [digit, second] = node.children.flatMap((child, i) => (child === undefined ? [] : i))
  const only = digit === undefined || second !== undefined ? undefined : node.children[digit]
  if (only === undefined || digit === undefined) return node
  return { ...only, path: `${node.path}${DIGITS[digit]}${only.path}` }
}

function remove<V>(node: Node<V> | undefined, key: string, at: number): Node<V> | undefined {
  if (node === undefined) return undefined
  const { path } = node
  const end = at + path.length
  if (commonLength(path, key, at) < path.length) return node
  if (end === key.length) {
    return node.value === undefined ? node : shortened(nodeOf(path, undefined, node.children))
  }
  const digit = digitAt(key, end)
  const child = node.children[digit]
  const left = remove(child, key, end + 1)
  return left === child ? node : shortened(withChild(node, digit, left))
}

function* walk<V>(
  node: Node<V> | undefined,
  before: string,
  isReverse: boolean,
): Generator<readonly [string, V]> {
  if (node === undefined) return
  const key = before + node.path
  if (node.value !== undefined && !isReverse) yield [key, node.value]
  for (let i = 0; i < node.children.length; i++) {
    const digit = isReverse ? 15 - i : i
    const child = node.children[digit]
    if (child !== undefined) yield* walk(child, `${key}${DIGITS[digit]}`, isReverse)
  }
  if (node.value !== undefined && isReverse) yield [key, node.value]
}

/** A node without the first digits of its path. */
function skipped<V>(node: Node<V>, digits: number): Node<V> {
  return { ...node, path: node.path.slice(digits) }
}

function* compare<V>(
  a: Node<V> | undefined,
  b: Node<V> | undefined,
  before: string,
): Generator<Difference<V>> {
  if (a === b) return
  if (a === undefined || b === undefined) {
    for (const [key, value] of walk(a, before, false)) yield { key, before: value, after: undefined }
    for (const [key, value] of walk(b, before, false)) yield { key, before: undefined, after: value }
    return
  }
  const common = commonLength(a.path, b.path, 0)
  const key = before + a.path.slice(0, common)
  const [over, under] = [skipped(a, common), skipped(b, common)]
  // Of a node that begins further below, the part from here on is the child of a node without value.
  const value = (node: Node<V>) => (node.path === '' ? node.value : undefined)
  const child = (node: Node<V>, digit: number) => {
    if (node.path === '') return node.children[digit]
    return digitAt(node.path, 0) === digit ? skipped(node, 1) : undefined
  }
  if (value(over) !== value(under)) yield { key, before: value(over), after: value(under) }
  for (let digit = 0; digit < 16; digit++) {
    yield* compare(child(over, digit), child(under, digit), `${key}${DIGITS[digit]}`)
  }
}

/** A map from lower-case hex digits to values, none of which is `undefined`. In the order of its keys. */
export class PersistentMap<V> {
  readonly #root: Node<V> | undefined

  private constructor(root: Node<V> | undefined) {
    this.#root = root
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(undefined)
  }

  get size(): number {
    return this.#root?.size ?? 0
  }

  get(key: string): V | undefined {
    let node = this.#root
    let at = 0
    while (node !== undefined) {
      if (!key.startsWith(node.path, at)) return undefined
      at += node.path.length
      if (at === key.length) return node.value
      node = node.children[digitAt(key, at++)]
    }
    return undefined
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  put(key: string, value: V): PersistentMap<V> {
    return new PersistentMap(put(this.#root, key, 0, value))
  }

  /** The map without the key; the map itself when it lacks it. */
  delete(key: string): PersistentMap<V> {
    const root = remove(this.#root, key, 0)
    return root === this.#root ? this : new PersistentMap(root)
  }

  /** Entries whose keys begin with a prefix, in order or in reverse. */
  *entries(prefix = '', isReverse = false): Generator<readonly [string, V]> {
    let node = this.#root
    let at = 0
    while (node !== undefined) {
      const rest = prefix.slice(at)
      if (node.path.startsWith(rest)) return yield* walk(node, prefix.slice(0, at), isReverse)
      if (!rest.startsWith(node.path)) return
      at += node.path.length
      node = node.children[digitAt(prefix, at++)]
    }
  }

  /** Values of keys that begin with a prefix, in order or in reverse. */
  *values(prefix = '', isReverse = false): Generator<V> {
    for (const [, value] of this.entries(prefix, isReverse)) yield value
  }

  /** What a change to the other map puts, replaces and deletes. Values are compared by identity. */
  differences(other: PersistentMap<V>): Generator<Difference<V>> {
    return compare(this.#root, other.#root, '')
  }
}
