/** Merkle trees of transactions: partial ones (BIP-37), branches, and the check against inner nodes that are transactions. */
import { concat, equal } from '../encoding/bytes.ts'
import { doubleSha256, HASH_BYTES } from '../encoding/hash.ts'
import { ByteReader } from './byte-reader.ts'
import { reversed } from './hash.ts'
import { MAX_MONEY } from './transaction.ts'

/** Maximum number of transactions in a block: its maximum size divided by the minimum size of a transaction. */
const MAX_TRANSACTIONS = Math.floor(1_000_000 / 60)
const MAX_OUTPUTS = 1_000_000
const COINBASE_OUTPUT = 0xffffffff
/** Total size of both scripts in a transaction of 64 bytes with one input and one output. */
const SCRIPT_BYTES = 4

/**
 * Could two nodes, each as displayed, be the 64 bytes of a transaction? The reference node looks at displayed nodes,
 * which is not how they are hashed; this is consensus.
 */
function isTransaction(left: Uint8Array, right: Uint8Array): boolean {
  const bytes = concat(left, right)
  const view = new DataView(bytes.buffer)
  if (bytes[4] !== 1) return false
  const output = view.getUint32(37, true)
  if (output > MAX_OUTPUTS && output !== COINBASE_OUTPUT) return false
  const inputScript = bytes[41] ?? 0
  if (inputScript > SCRIPT_BYTES) return false
  const outputsAt = 46 + inputScript
  if (bytes[outputsAt] !== 1) return false
  const value = view.getBigInt64(outputsAt + 1, true)
  return value >= 1n && value <= MAX_MONEY && inputScript + (bytes[outputsAt + 9] ?? 0) === SCRIPT_BYTES
}

/** The node above two nodes, all in raw order. Throws a RangeError when the two could be a transaction. */
export function combine(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (isTransaction(reversed(left), reversed(right))) throw new RangeError('two nodes form a transaction')
  return doubleSha256(concat(left, right))
}

/** The root that siblings lead to from a node, all in raw order; bit i of `path`: is the node on the right at level i? */
export function branchRoot(node: Uint8Array, path: number, siblings: readonly Uint8Array[]): Uint8Array {
  return siblings.reduce(
    (current, sibling, level) =>
      ((path >>> level) & 1) === 1 ? combine(sibling, current) : combine(current, sibling),
    node,
  )
}

/** Does a partial Merkle tree have the length that its counts of hashes and flags require? */
export function hasTreeLength(bytes: Uint8Array): boolean {
  try {
    const reader = new ByteReader(bytes)
    reader.uint32()
    reader.bytes(reader.count(HASH_BYTES) * HASH_BYTES)
    reader.string()
    return reader.remaining === 0
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** What a partial Merkle tree proves; raw order. */
export interface MerkleProof {
  readonly root: Uint8Array
  /** The transactions that it is about, in order. */
  readonly matches: readonly Uint8Array[]
}

/** Reads hashes and flags in the order of a walk through the tree. */
class TreeWalk {
  readonly matches: Uint8Array[] = []
  readonly #transactions: number
  readonly #hashes: readonly Uint8Array[]
  readonly #flags: Uint8Array
  #hash = 0
  #flag = 0

  constructor(transactions: number, hashes: readonly Uint8Array[], flags: Uint8Array) {
    this.#transactions = transactions
    this.#hashes = hashes
    this.#flags = flags
  }

  widthAt(height: number): number {
    return Math.ceil(this.#transactions / 2 ** height)
  }

  /** The node at a height above the transactions, `position` nodes from the left. */
  node(height: number, position: number): Uint8Array {
    const isAboveMatch = this.#nextFlag()
    if (height === 0 || !isAboveMatch) {
      const hash = this.#nextHash()
      if (height === 0 && isAboveMatch) this.matches.push(hash)
      return hash
    }
    const left = this.node(height - 1, 2 * position)
    if (2 * position + 1 >= this.widthAt(height - 1)) return combine(left, left)
    const right = this.node(height - 1, 2 * position + 1)
    if (equal(left, right)) throw new RangeError('a Merkle tree with two equal branches')
    return combine(left, right)
  }

  /** Were all hashes and flags used, but for the padding of the last byte? */
  get isDone(): boolean {
    return this.#hash === this.#hashes.length && Math.ceil(this.#flag / 8) === this.#flags.length
  }

  #nextFlag(): boolean {
    const byte = this.#flags[this.#flag >> 3]
    if (byte === undefined) throw new RangeError('a Merkle tree without enough flags')
    return ((byte >> (this.#flag++ & 7)) & 1) === 1
  }

  #nextHash(): Uint8Array {
    const hash = this.#hashes[this.#hash++]
    if (hash === undefined) throw new RangeError('a Merkle tree without enough hashes')
    return hash
  }
}

/** The root and the transactions of a partial Merkle tree (BIP-37). Throws a RangeError when it is none. */
export function proveByTree(bytes: Uint8Array): MerkleProof {
  const reader = new ByteReader(bytes)
  const transactions = reader.uint32()
  const hashes = Array.from({ length: reader.count(HASH_BYTES) }, () => reader.bytes(HASH_BYTES))
  const flags = reader.string()
  if (transactions === 0 || transactions > MAX_TRANSACTIONS)
    throw new RangeError('an impossible number of transactions')
  if (hashes.length > transactions) throw new RangeError('a Merkle tree with more hashes than transactions')
  if (flags.length * 8 < hashes.length) throw new RangeError('a Merkle tree with fewer flags than hashes')
  const walk = new TreeWalk(transactions, hashes, flags)
  let height = 0
  while (walk.widthAt(height) > 1) height++
  const root = walk.node(height, 0)
  if (!walk.isDone) throw new RangeError('a Merkle tree with more than it needs')
  return { root, matches: walk.matches }
}
