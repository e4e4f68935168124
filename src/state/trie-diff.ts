/** The accounts in which two states differ, found by the hashes of their trie nodes: equal subtrees are not read. */
import { type Hex, toHex } from '../encoding/hex.ts'
import { NodeHash, type TrieChild, type TrieNode, type TrieValue } from '../encoding/trie-node.ts'
import type { LoadNode } from '../encoding/trie-update.ts'

/** Bits of an account's key: the domain, ten bytes of hash, the address (docs/protocol.md#56-state-keys). */
const ACCOUNT_BITS = 8 * (1 + 10 + 20)
/** Where its address begins. That of the REMASC transaction's sender has one byte, all others have 20. */
const ADDRESS_AT = 8 * (1 + 10)

/** A place in a trie: `at` bits of the path of a node have been followed. */
interface Cursor {
  readonly node: TrieNode
  readonly at: number
}

function childHash(child: TrieChild): Hex {
  return child instanceof NodeHash ? child.hex : child.hash.hex
}

function sameChild(a: TrieChild | undefined, b: TrieChild | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && childHash(a) === childHash(b))
}

function sameValue(a: TrieValue | undefined, b: TrieValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  return !(a instanceof Uint8Array) && !(b instanceof Uint8Array) && a.hash.hex === b.hash.hex
}

/** Do two nodes at which the key of one account ends hold the same account, code and storage? */
function sameAccount({ node: a }: Cursor, { node: b }: Cursor): boolean {
  return sameValue(a.value, b.value) && sameChild(a.left, b.left) && sameChild(a.right, b.right)
}

/** The value at a cursor: nodes have theirs at the end of their path. */
function valueAt(cursor: Cursor | undefined): TrieValue | undefined {
  return cursor?.at === cursor?.node.path.length ? cursor?.node.value : undefined
}

/** The child of a cursor that has followed the whole path of its node. */
function below({ node }: Cursor, bit: 0 | 1): TrieChild | undefined {
  return bit === 0 ? node.left : node.right
}

function addressOf(bits: readonly number[]): Hex {
  const text = bits.slice(ADDRESS_AT).join('')
  return toHex(Uint8Array.from(text.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2)))
}

/** The addresses of accounts that only one of two states has, or that differ in nonce, balance, code or storage. */
export function changedAccounts(
  load: LoadNode,
  before: TrieNode | undefined,
  after: TrieNode | undefined,
): readonly Hex[] {
  const found: Hex[] = []
  const bits: number[] = []

  function follow(cursor: Cursor | undefined, bit: 0 | 1): Cursor | undefined {
    if (cursor === undefined) return undefined
    const { node, at } = cursor
    if (at < node.path.length) return node.path[at] === bit ? { node, at: at + 1 } : undefined
    const child = below(cursor, bit)
    return child && { node: child instanceof NodeHash ? load(child) : child, at: 0 }
  }

  /** Do both cursors stand above subtrees of the same hash on this side? */
  function isSame(a: Cursor | undefined, b: Cursor | undefined, bit: 0 | 1): boolean {
    if (a === undefined || b === undefined) return a === b
    if (a.at < a.node.path.length || b.at < b.node.path.length) return false
    return sameChild(below(a, bit), below(b, bit))
  }

  function walk(a: Cursor | undefined, b: Cursor | undefined): void {
    if (a === undefined && b === undefined) return
    if (bits.length === ACCOUNT_BITS) {
      if (a === undefined || b === undefined || !sameAccount(a, b)) found.push(addressOf(bits))
      return
    }
    if (!sameValue(valueAt(a), valueAt(b))) found.push(addressOf(bits))
    for (const bit of [0, 1] as const) {
      if (isSame(a, b, bit)) continue
      bits.push(bit)
      walk(follow(a, bit), follow(b, bit))
      bits.pop()
    }
  }

  const top = (node: TrieNode | undefined): Cursor | undefined => node && { node, at: 0 }
  if (!sameChild(before, after)) walk(top(before), top(after))
  return found
}
