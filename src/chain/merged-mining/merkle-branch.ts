/** The merkle branch from a parent-chain coinbase to its block's merkle root (RSKIP-92): checking and making it. */
import { concat } from '../../encoding/bytes.ts'
import { doubleSha256, HASH_BYTES } from '../../encoding/hash.ts'

/** RSKIP-180: at most 30 siblings. */
const MAX_SIBLINGS = 30

function reversed(hash: Uint8Array): Uint8Array {
  return hash.slice().reverse()
}

/**
 * The merkle root (raw order) that a branch leads to from the coinbase's hash (raw order). Siblings stand
 * bottom up in display order (docs/internals/protocol.md#22-merkle-proof). Throws a RangeError when the branch has an
 * impossible length or hides a transaction.
 */
export function rootOfBranch(coinbaseHash: Uint8Array, branch: Uint8Array): Uint8Array {
  if (branch.length % HASH_BYTES !== 0) throw new RangeError('a merkle branch consists of 32-byte hashes')
  if (branch.length > HASH_BYTES * MAX_SIBLINGS)
    throw new RangeError(`a merkle branch has at most ${MAX_SIBLINGS} hashes`)
  let node = coinbaseHash
  for (let at = 0; at < branch.length; at += HASH_BYTES) {
    node = parentOf(node, reversed(branch.subarray(at, at + HASH_BYTES)))
  }
  return node
}

function parentOf(left: Uint8Array, right: Uint8Array): Uint8Array {
  const pair = concat(left, right)
  if (isTransaction(pair)) throw new RangeError('a pair of the merkle tree reads as a transaction')
  return doubleSha256(pair)
}

/**
 * Could these 64 bytes be a whole parent-chain transaction? Then a transaction could pass for an inner node and prove a
 * block that has no such coinbase.
 */
export function isTransaction(pair: Uint8Array): boolean {
  let at = 4
  const skipScripts = (before: number, after: number): void => {
    // Within 64 bytes every count and every length is a single byte; a longer form cannot fit.
    const count = pair[at++] ?? 0
    for (let i = 0; i < count && at <= pair.length; i++) {
      at += before
      at += 1 + (pair[at] ?? pair.length) + after
    }
    if (count === 0) at = Number.POSITIVE_INFINITY
  }
  skipScripts(36, 4)
  skipScripts(8, 0)
  return at + 4 === pair.length
}

/**
 * The branch of the first transaction, from all transaction hashes of the block in raw order. Empty when there is just
 * the coinbase. Throws a RangeError for an empty list.
 */
export function branchFromHashes(transactionHashes: readonly Uint8Array[]): Uint8Array {
  if (transactionHashes.length === 0) throw new RangeError('a block has at least one transaction')
  const siblings: Uint8Array[] = []
  let level = [...transactionHashes]
  while (level.length > 1) {
    siblings.push(reversed(level[1] as Uint8Array))
    const above: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Uint8Array
      above.push(doubleSha256(concat(left, level[i + 1] ?? left)))
    }
    level = above
  }
  return concat(...siblings)
}

/**
 * The branch that pools submit as a partial tree: the coinbase's hash first, then its siblings bottom up, all in raw
 * order. Throws a RangeError for an empty list.
 */
export function branchFromPartialTree(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) throw new RangeError('a partial merkle tree has at least the hash of the coinbase')
  return concat(...hashes.slice(1).map(reversed))
}
