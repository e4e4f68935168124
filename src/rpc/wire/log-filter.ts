/** The filter of log queries (docs/rpc-reference.md#77-filters-and-logs). */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Parameter } from '../method.ts'
import { type BlockArgument, LogBlock } from './block-reference.ts'
import { Address, BlockHash, refuse, Topic } from './scalars.ts'

/** Which logs the caller wants; absent bounds are the caller's silence, not yet a range. */
export interface LogFilter {
  readonly blockHash?: Hex
  readonly fromBlock?: BlockArgument
  readonly toBlock?: BlockArgument
  /** Any of; empty is any at all. */
  readonly addresses: readonly Hex[]
  /** By position: any of, or null for any at all. */
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** Most addresses, and most topics, of one filter: each costs a hash and, in a filter that stays, room. */
export const MOST_ITEMS = 5000

function refuseMany(count: number, name: string): void {
  if (count > MOST_ITEMS) refuse(name, `at most ${MOST_ITEMS} items`)
}

function readAddresses(value: unknown, name: string): readonly Hex[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return [Address.read(value, name)]
  refuseMany(value.length, name)
  return value.map((item) => Address.read(item, name))
}

/** Alternatives of one position: nulls among them are dropped, and none left is a wildcard. */
function readAlternatives(value: unknown, name: string): readonly Hex[] | null {
  if (value === null) return null
  if (!Array.isArray(value)) return [Topic.read(value, name)]
  const topics = value.filter((item) => item !== null).map((item) => Topic.read(item, name))
  return topics.length === 0 ? null : topics
}

function readTopics(value: unknown, name: string): readonly (readonly Hex[] | null)[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [[Topic.read(value, name)]]
  if (!Array.isArray(value)) refuse(name, 'an array')
  refuseMany(value.flat().length, name)
  const topics = value.map((position) => readAlternatives(position, name))
  // Wildcards at the end demand nothing, not even that the position exists.
  while (topics.at(-1) === null) topics.pop()
  return topics
}

/** The members that narrow logs down, wherever they stand. */
export function readLogCriteria(
  { address, topics }: Record<string, unknown>,
  name: string,
): Pick<LogFilter, 'addresses' | 'topics'> {
  return {
    addresses: readAddresses(address, `${name}.address`),
    topics: readTopics(topics, `${name}.topics`),
  }
}

/** The filter object; unknown members are ignored. */
export const FilterObject: Parameter<LogFilter> = {
  schema: z.object({
    fromBlock: LogBlock.schema.optional(),
    toBlock: LogBlock.schema.optional(),
    blockHash: BlockHash.schema.optional(),
    address: z
      .union([Address.schema, z.array(Address.schema)])
      .nullable()
      .optional(),
    topics: z
      .array(z.union([Topic.schema, z.null(), z.array(z.union([Topic.schema, z.null()]))]))
      .nullable()
      .optional(),
  }),
  read(value, name) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(name, 'an object')
    const given = value as Record<string, unknown>
    const { blockHash, fromBlock, toBlock } = given
    const named = blockHash !== undefined && blockHash !== null
    if (named && (fromBlock !== undefined || toBlock !== undefined)) {
      throw invalidParams('Cannot specify both blockHash and fromBlock/toBlock')
    }
    return {
      ...(named && { blockHash: BlockHash.read(blockHash, `${name}.blockHash`) }),
      ...(fromBlock !== undefined && { fromBlock: LogBlock.read(fromBlock, `${name}.fromBlock`) }),
      ...(toBlock !== undefined && { toBlock: LogBlock.read(toBlock, `${name}.toBlock`) }),
      ...readLogCriteria(given, name),
    }
  },
}
