/** Logs in a section index: the bits of a block's bloom are its terms. */
import { bloomBits } from '../../chain/bloom.ts'
import type { TopicFilter } from '../../chain/log-filter.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Clauses, Mark } from './section.ts'
import type { Standing } from './section-index.ts'

/** The term of every block that has logs, behind those of the bits. */
const ANY_LOG = 2048

/** Marks the set bits of a block's bloom. */
export function markLogs({ header: { logsBloom } }: Standing, mark: Mark): void {
  let any = false
  for (let at = 0; at < logsBloom.length; at++) {
    const byte = logsBloom[at] as number
    if (byte === 0) continue
    any = true
    const lowest = (logsBloom.length - 1 - at) * 8
    for (let bit = 0; bit < 8; bit++) if ((byte >> bit) & 1) mark(lowest + bit)
  }
  if (any) mark(ANY_LOG)
}

/** True of every block that holds a log of one of the addresses (none is any) with the topics. */
export function logClauses(addresses: readonly Hex[], topics: TopicFilter): Clauses {
  const wanted = [addresses, ...topics.map((items) => items ?? [])].filter((items) => items.length > 0)
  if (wanted.length === 0) return [[[ANY_LOG]]]
  return wanted.map((items) => items.map(bloomBits))
}
