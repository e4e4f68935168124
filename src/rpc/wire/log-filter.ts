/** The filter of log queries (docs/internals/rpc-reference.md#77-filters-and-logs). */
import type { Hex } from '../../encoding/hex.ts'
import { arrayOf, type Decoded, either, mapped, object, orNull, type Parameter } from '../parameter.ts'
import { type BlockArgument, LogBlock } from './block-reference.ts'
import { Address, BlockHash, Topic } from './scalars.ts'

/** Which logs the caller wants; bounds that the caller left out are absent, and the query resolves them. */
export interface LogFilter {
  readonly blockHash?: Hex
  readonly fromBlock?: BlockArgument
  readonly toBlock?: BlockArgument
  /** Any of; empty matches every address. */
  readonly addresses: readonly Hex[]
  /** By position: any of, or null as wildcard. */
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** Maximum number of addresses, and of topics, in one filter: each costs a hash, and memory while the filter lives. */
export const MOST_ITEMS = 5000

const Addresses = orNull(
  either(
    Array.isArray,
    arrayOf(Address, { most: MOST_ITEMS }),
    mapped(Address, (address) => [address]),
  ),
  undefined,
)

/** The alternatives of one position: nulls are dropped, and an empty list is a wildcard. */
const Alternatives: Parameter<readonly Hex[] | null> = orNull(
  either(
    Array.isArray,
    mapped(arrayOf(orNull(Topic, null)), (topics) => {
      const wanted = topics.filter((topic) => topic !== null)
      return wanted.length === 0 ? null : wanted
    }),
    mapped(Topic, (topic) => [topic]),
  ),
  null,
)

function countTopics(positions: readonly unknown[]): number {
  let count = 0
  for (const position of positions) count += Array.isArray(position) ? position.length : 1
  return count
}

/** Trailing wildcards are dropped: they match even a log that has no such topic. */
function withoutTrailingWildcards(positions: readonly (readonly Hex[] | null)[]) {
  if (positions.at(-1) !== null) return positions
  return positions.slice(0, positions.findLastIndex((position) => position !== null) + 1)
}

const Topics = orNull(
  either(
    (value) => typeof value === 'string',
    mapped(Topic, (topic) => [[topic]]),
    mapped(arrayOf(Alternatives, { most: MOST_ITEMS, size: countTopics }), withoutTrailingWildcards),
  ),
  undefined,
)

/** The members that select logs by address and topics. */
export const CRITERIA = { address: Addresses, topics: Topics }

/** The addresses and topics that they select. */
export function criteriaOf({
  address = [],
  topics = [],
}: Decoded<typeof CRITERIA>): Pick<LogFilter, 'addresses' | 'topics'> {
  return { addresses: address, topics }
}

/** The filter object; unknown members are ignored. */
export const FilterObject: Parameter<LogFilter> = mapped(
  object(
    { blockHash: orNull(BlockHash, undefined), fromBlock: LogBlock, toBlock: LogBlock, ...CRITERIA },
    {
      check({ blockHash, fromBlock, toBlock }) {
        const isNamed = blockHash !== undefined && blockHash !== null
        return isNamed && (fromBlock !== undefined || toBlock !== undefined)
          ? 'Cannot specify both blockHash and fromBlock/toBlock'
          : undefined
      },
    },
  ),
  ({ address: addresses = [], topics = [], blockHash, fromBlock, toBlock }): LogFilter => {
    const filter: { -readonly [K in keyof LogFilter]: LogFilter[K] } = { addresses, topics }
    if (blockHash !== undefined) filter.blockHash = blockHash
    if (fromBlock !== undefined) filter.fromBlock = fromBlock
    if (toBlock !== undefined) filter.toBlock = toBlock
    return filter
  },
)
