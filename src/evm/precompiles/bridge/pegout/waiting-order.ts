/** In which order the reference node looks at the releases that wait for confirmations. */
import { reversed } from '../../../../bitcoin/hash.ts'
import { txid } from '../../../../bitcoin/transaction.ts'
import type { IsActive } from '../../../../chain/activations.ts'
import { wordAt } from '../../../../encoding/bytes.ts'
import { byBytes, type WaitingRelease } from '../storage/releases.ts'

const LEAST_BUCKETS = 16
const LOAD_FACTOR = 0.75

/** `Objects.hash` of the transaction and the block, spread as `HashMap` spreads it. */
function spreadHash({ transaction, creationBlock }: WaitingRelease): number {
  const ofTransaction = wordAt(reversed(txid(transaction)), 28)
  const ofBlock = (Math.floor(creationBlock / 2 ** 32) ^ creationBlock) | 0
  const hash = (Math.imul(31, (31 + ofTransaction) | 0) + ofBlock) | 0
  return hash ^ (hash >>> 16)
}

/** Buckets of a `HashSet` that was made for so many members. */
function bucketsFor(count: number): number {
  let buckets = LEAST_BUCKETS
  while (buckets < Math.floor(count / LOAD_FACTOR) + 1 || count > buckets * LOAD_FACTOR) buckets *= 2
  return buckets
}

/** The releases in their order: by their bytes since RSKIP-559, before in that of a `HashSet` of Java. */
export function inOrder(releases: readonly WaitingRelease[], isActive: IsActive): readonly WaitingRelease[] {
  if (isActive('rskip559')) return releases.toSorted(byBytes)
  const mask = bucketsFor(releases.length) - 1
  const bucket = (release: WaitingRelease) => spreadHash(release) & mask
  // The sort is stable: members of a bucket keep the order in which they came.
  return releases.toSorted((a, b) => bucket(a) - bucket(b))
}
