/** What a node keeps of a parent chain that is not its own: its table of the parent chain then has this entry alone. */
import { fromBigInt } from '../encoding/bytes.ts'
import { asList, asNumber, decodeRlp, encodeRlp } from '../encoding/rlp.ts'
import type { ParentEntry } from './parent-chain.ts'

/** Where this chain stands on the other. */
export interface OutsideRecord {
  /** Height of the first block of the parent chain that counts for this chain. */
  readonly firstHeight: number
  /** How many transactions of this chain's making were broadcast on it. */
  readonly releases: number
}

/** The key of the entry, which no simulated chain has. */
const OUTSIDE_KEY = 'outside'

/** The entry. */
export function outsideEntry({ firstHeight, releases }: OutsideRecord): ParentEntry {
  return [OUTSIDE_KEY, encodeRlp([firstHeight, releases].map((number) => fromBigInt(BigInt(number))))]
}

/** The record of the entries; `undefined` for those of a simulated chain. Throws a RangeError for a malformed record. */
export function outsideRecordIn(entries: readonly ParentEntry[]): OutsideRecord | undefined {
  const bytes = entries.find(([key]) => key === OUTSIDE_KEY)?.[1]
  if (bytes === undefined) return undefined
  const [firstHeight, releases] = asList(decodeRlp(bytes), 'record of the parent chain')
  return { firstHeight: asNumber(firstHeight, 'first height'), releases: asNumber(releases, 'releases') }
}
