/** Snapshots as they are stored. */
import { fromHex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { KeptSnapshot } from '../../store/node-records.ts'
import type { ParentChain } from '../parent-chain.ts'
import { HashSet } from '../pool/hash-set.ts'
import type { Snapshot } from './snapshots.ts'

/** The record of a snapshot. */
export function recordOf({
  clock,
  blockOverrides,
  pool,
  parent,
  isKept: _,
  ...rest
}: Snapshot): KeptSnapshot {
  const { gasLimit, minimumGasPrice } = blockOverrides.header
  const { offset, exact, interval } = clock
  return {
    ...rest,
    pool: [...pool],
    clock: { offset, ...(exact !== undefined && { exact }), ...(interval !== undefined && { interval }) },
    coinbase: blockOverrides.coinbase,
    ...(gasLimit !== undefined && { gasLimit: toQuantity(gasLimit) }),
    ...(minimumGasPrice !== undefined && { minimumGasPrice: toQuantity(minimumGasPrice) }),
    ...(parent && { parent: toHex(parent.encode()) }),
  }
}

/** The snapshot of a record. The state of a parent chain is left out where the node runs none. */
export function snapshotOf(
  { clock, coinbase, gasLimit, minimumGasPrice, pool, parent, ...rest }: KeptSnapshot,
  parentChain?: ParentChain,
): Snapshot {
  const { offset, exact, interval } = clock
  return {
    ...rest,
    name: rest.name,
    pool: HashSet.of(pool),
    ...(parent !== undefined && { parent: parentChain?.decode(fromHex(parent)) }),
    clock: { offset, exact, interval },
    blockOverrides: {
      coinbase,
      header: {
        ...(gasLimit !== undefined && { gasLimit: BigInt(gasLimit) }),
        ...(minimumGasPrice !== undefined && { minimumGasPrice: BigInt(minimumGasPrice) }),
      },
    },
    isKept: true,
  }
}

/** Length of a hash in a list in JSON: 66 characters, quotes, and a comma. */
const LISTED_HASH = 69

/** Length of the record of a snapshot as JSON, without reading the list of pooled transactions. */
export function recordLength(snapshot: Snapshot): number {
  const empty = JSON.stringify(recordOf({ ...snapshot, pool: HashSet.of([]) })).length
  return empty + Math.max(0, snapshot.pool.size * LISTED_HASH - 1)
}
