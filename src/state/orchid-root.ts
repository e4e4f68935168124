/**
 * Roots of a state in the format before RSKIP-126, out of the unified trie: a trie of accounts, each with the root of a
 * trie of its own for storage, both under hashed keys (docs/internals/protocol.md#58-state-root). The upper structure of both is
 * that of the unified trie, whose keys begin with the same bits.
 */
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../chain/account.ts'
import { concat, EMPTY, fromBigInt, fromBigIntSigned, stripZeros } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { type OrchidNode, orchidNodeHash } from '../encoding/orchid-node.ts'
import { frameStrings } from '../encoding/rlp-frame.ts'
import { NodeHash, type TrieChild, type TrieNode, type TrieValue } from '../encoding/trie-node.ts'
import { bitsOf, packedBits } from '../encoding/trie-path.ts'
import type { LoadNode } from '../encoding/trie-update.ts'
import { RecentMap } from './recent-map.ts'
import { decodeAccount } from './state-keys.ts'

/** Bits of the domain in front of every key of the unified trie. */
const DOMAIN_BITS = 8
/** Bits that the keys of both formats begin with. */
const HASH_BITS = 80
const ADDRESS_BITS = 160
/** Bits of the key of the contract marker behind its branch, above all storage. */
const MARKER_BITS = 7
/** Hashes of nodes kept: those of a block are few, the rest of the state stays as it was. */
const CACHE_NODES = 200_000

const EMPTY_ROOT = fromHex(EMPTY_TRIE_ROOT)
const NO_CODE = fromHex(EMPTY_CODE_HASH)

/** How the nodes and long values of a trie are read. */
export interface OrchidSource {
  readonly load: LoadNode
  /** A value's bytes. */
  readonly bytes: (value: TrieValue) => Uint8Array
}

/** The old roots of states; those of nodes that states share are kept. */
export class OrchidRoots {
  readonly #hashes = new RecentMap<string, Uint8Array>(CACHE_NODES)

  /** The old root of the state under a node of the unified trie. */
  root(node: TrieNode | undefined, source: OrchidSource): Hex {
    if (node === undefined) return EMPTY_TRIE_ROOT
    return toHex(orchidNodeHash(this.#accountNode(node, node.path.subarray(DOMAIN_BITS), 0, source)))
  }

  #child(
    child: TrieChild | undefined,
    consumed: number,
    source: OrchidSource,
    convert: (node: TrieNode, consumed: number, source: OrchidSource) => OrchidNode,
  ): Uint8Array | undefined {
    if (child === undefined) return undefined
    const hash = child instanceof NodeHash ? child.hex : child.hash.hex
    const key = `${hash}${consumed}`
    let known = this.#hashes.get(key)
    if (known === undefined) {
      known = orchidNodeHash(convert(resolve(child, source), consumed, source))
      this.#hashes.set(key, known)
    }
    return known
  }

  readonly #accountChild = (node: TrieNode, consumed: number, source: OrchidSource): OrchidNode =>
    this.#accountNode(node, node.path, consumed, source)

  readonly #cellChild = (node: TrieNode, consumed: number, source: OrchidSource): OrchidNode =>
    this.#cellNode(node, node.path, consumed, source)

  /** `consumed`: bits of the hashed key in front of `path`. */
  #accountNode(node: TrieNode, path: Uint8Array, consumed: number, source: OrchidSource): OrchidNode {
    const { value } = node
    if (value === undefined) {
      const next = consumed + path.length + 1
      return {
        path,
        value,
        left: this.#child(node.left, next, source, this.#accountChild),
        right: this.#child(node.right, next, source, this.#accountChild),
        isSecure: true,
      }
    }
    // The sender of REMASC's transaction has an address of one byte.
    const keyBits = consumed + path.length
    const addressBits = keyBits === HASH_BITS + ADDRESS_BITS ? ADDRESS_BITS : keyBits - HASH_BITS
    const address = packedBits(path.subarray(path.length - addressBits))
    const { nonce, balance } = decodeAccount(source.bytes(value))
    const account = frameStrings([
      fromBigInt(nonce),
      stripZeros(fromBigIntSigned(balance)),
      this.#storageRoot(node, source),
      codeHash(node, source),
    ])
    return leaf(bitsOf(keccak256(address)).subarray(consumed), account)
  }

  /** The root of an account's storage, all of it below the branch of the contract marker. */
  #storageRoot({ left }: TrieNode, source: OrchidSource): Uint8Array {
    if (left === undefined) return EMPTY_ROOT
    const marker = resolve(left, source)
    const { path } = marker
    if (path.length > MARKER_BITS) {
      return orchidNodeHash(this.#cellNode(marker, path.subarray(MARKER_BITS), 0, source))
    }
    // The marker's value is not part of the old format; a single child takes the marker's place.
    const children = [marker.left, marker.right]
    if (children[0] === undefined && children[1] === undefined) return EMPTY_ROOT
    for (const bit of [0, 1]) {
      const only = children[bit]
      if (children[1 - bit] !== undefined || only === undefined) continue
      const node = resolve(only, source)
      return orchidNodeHash(this.#cellNode(node, concat(Uint8Array.of(bit), node.path), 0, source))
    }
    return orchidNodeHash({
      path: EMPTY,
      value: undefined,
      left: this.#child(marker.left, 1, source, this.#cellChild),
      right: this.#child(marker.right, 1, source, this.#cellChild),
      isSecure: true,
    })
  }

  #cellNode(node: TrieNode, path: Uint8Array, consumed: number, source: OrchidSource): OrchidNode {
    if (node.value !== undefined) {
      const slot = packedBits(path.subarray(HASH_BITS - consumed))
      const word = new Uint8Array(32)
      word.set(slot, 32 - slot.length)
      return leaf(bitsOf(keccak256(word)).subarray(consumed), source.bytes(node.value))
    }
    const next = consumed + path.length + 1
    return {
      path,
      value: undefined,
      left: this.#child(node.left, next, source, this.#cellChild),
      right: this.#child(node.right, next, source, this.#cellChild),
      isSecure: true,
    }
  }
}

function leaf(path: Uint8Array, value: Uint8Array): OrchidNode {
  return { path, value, left: undefined, right: undefined, isSecure: true }
}

function resolve(child: TrieChild, { load }: OrchidSource): TrieNode {
  return child instanceof NodeHash ? load(child) : child
}

/** The code is the account's right child, whose value is long or stands in the node. */
function codeHash({ right }: TrieNode, source: OrchidSource): Uint8Array {
  if (right === undefined) return NO_CODE
  const { value } = resolve(right, source)
  if (value === undefined) return NO_CODE
  return value instanceof Uint8Array ? keccak256(value) : value.hash.bytes
}
