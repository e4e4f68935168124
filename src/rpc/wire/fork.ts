/** What `evm_` methods that make the chain fork take: what to mine, which blocks to replace by which. */
import { z } from 'zod'
import { decodeTransaction } from '../../chain/transaction.ts'
import { LATEST_TIMESTAMP } from '../../engine/clock.ts'
import type { MineRequest, ReorgRequest } from '../../engine/model.ts'
import type { Parameter } from '../method.ts'
import { Address, BlockHash, Data, Flag, refuse, wholeNumber } from './scalars.ts'

/** Most blocks of one call: they are built in one turn, and everything else waits. */
const MAX_BLOCKS = 10_000

/** Seconds since 1970 that a block may carry. */
export const Timestamp = wholeNumber('seconds since 1970, number or hex', LATEST_TIMESTAMP)
/** How many blocks one call may ask for. */
export const BlockCount = wholeNumber('how many blocks, number or hex', MAX_BLOCKS)

type PlannedBlock = NonNullable<ReorgRequest['blocks']>[number]

/** The members of an object that has no others than these. */
function membersOf(value: unknown, name: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(name, 'an object')
  const other = Object.keys(value).find((key) => !known.includes(key))
  if (other !== undefined)
    refuse(`${name}.${other}`, `${known.join(', ').replace(/, ([^,]*)$/, ' or $1')} only`)
  return value as Record<string, unknown>
}

function listOf<T>(value: unknown, name: string, read: (item: unknown, name: string) => T): T[] {
  if (!Array.isArray(value)) refuse(name, 'a list')
  if (value.length > MAX_BLOCKS) refuse(name, `at most ${MAX_BLOCKS} items`)
  return value.map((item, index) => read(item, `${name}[${index}]`))
}

/** What to mine: nothing said, the timestamp of the block, or an object. */
export const MineOptions: Parameter<MineRequest> = {
  schema: z.union([
    Timestamp.schema,
    z.object({
      timestamp: Timestamp.schema.optional(),
      blocks: BlockCount.schema.optional(),
      parent: BlockHash.schema.optional(),
    }),
  ]),
  read(value, name) {
    if (typeof value !== 'object') return { timestamp: Timestamp.read(value, name) }
    if (value === null) return {}
    if (Array.isArray(value)) refuse(name, 'a timestamp or an object')
    const { timestamp, blocks, parent } = membersOf(value, name, ['timestamp', 'blocks', 'parent'])
    return {
      ...(timestamp !== undefined && { timestamp: Timestamp.read(timestamp, `${name}.timestamp`) }),
      ...(blocks !== undefined && { blocks: BlockCount.read(blocks, `${name}.blocks`) }),
      ...(parent !== undefined && { parent: BlockHash.read(parent, `${name}.parent`) }),
    }
  },
}

function readPlannedBlock(value: unknown, name: string): PlannedBlock {
  const members = membersOf(value, name, ['transactions', 'timestamp', 'coinbase'])
  const { transactions, timestamp, coinbase } = members
  return {
    ...(transactions !== undefined && {
      transactions: listOf(transactions, `${name}.transactions`, (raw, at) =>
        decodeTransaction(Data.read(raw, at)),
      ),
    }),
    ...(timestamp !== undefined && { timestamp: Timestamp.read(timestamp, `${name}.timestamp`) }),
    ...(coinbase !== undefined && { coinbase: Address.read(coinbase, `${name}.coinbase`) }),
  }
}

/** Which blocks to replace by which. */
export const ReorgOptions: Parameter<ReorgRequest> = {
  schema: z.object({
    depth: BlockCount.schema,
    blocks: z
      .array(
        z.object({
          transactions: z.array(Data.schema).optional(),
          timestamp: Timestamp.schema.optional(),
          coinbase: Address.schema.optional(),
        }),
      )
      .optional(),
    uncles: Flag.schema.optional(),
  }),
  read(value, name) {
    const { depth, blocks, uncles } = membersOf(value, name, ['depth', 'blocks', 'uncles'])
    return {
      depth: BlockCount.read(depth, `${name}.depth`),
      ...(blocks !== undefined && { blocks: listOf(blocks, `${name}.blocks`, readPlannedBlock) }),
      ...(uncles !== undefined && { uncles: Flag.read(uncles, `${name}.uncles`) }),
    }
  },
}
