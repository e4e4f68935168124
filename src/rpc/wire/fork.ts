/** Parameters of the `evm_` methods that mine or replace blocks. */
import { z } from 'zod'
import { LATEST_TIMESTAMP } from '../../chain/config.ts'
import type { MineRequest } from '../../engine/model.ts'
import {
  arrayOf,
  either,
  mapped,
  object,
  orNull,
  type Parameter,
  refuse,
  type ValueOf,
} from '../parameter.ts'
import { PricedCallObject } from './call.ts'
import { Address, BlockHash, Data, Flag, wholeNumber } from './scalars.ts'

/** Maximum number of blocks of a list or an answer. */
const MAX_BLOCKS = 10_000
/** Maximum number of blocks that are mined by a call whose answer says nothing about them. */
const MAX_MINED = 1_000_000
const LIST = { most: MAX_BLOCKS, what: 'a list', indexed: true }

/** Seconds since 1970 that a block may carry. */
export const Timestamp = wholeNumber('seconds since 1970, number or hex', LATEST_TIMESTAMP)
/** How many blocks one call may ask for. */
export const BlockCount = wholeNumber('how many blocks, number or hex', MAX_BLOCKS)
/** How many blocks `hardhat_mine` may mine. */
export const MinedCount = wholeNumber('how many blocks, number or hex', MAX_MINED)

const MineObject = object(
  { timestamp: Timestamp, blocks: BlockCount, parent: BlockHash },
  { closed: true, what: 'a timestamp or an object' },
)

/** What to mine: null for one block, the timestamp of a block, or an object. */
export const MineOptions: Parameter<MineRequest> = either(
  (value) => typeof value === 'object',
  orNull(MineObject, {}),
  mapped(Timestamp, (timestamp) => ({ timestamp })),
)

const PlannedBlock = object(
  {
    transactions: arrayOf(Data, LIST),
    timestamp: Timestamp,
    coinbase: Address,
  },
  { closed: true },
)

const isText = (value: unknown): boolean => typeof value === 'string'
const ReorgTransaction = either(isText, Data, PricedCallObject)
const BlockIndex = wholeNumber('index of a replacing block, from 0', MAX_BLOCKS)

/** A pair of a transaction and the index of its block. */
const ReorgPair: Parameter<{
  readonly transaction: ValueOf<typeof ReorgTransaction>
  readonly block: number
}> = {
  schema: () => z.tuple([ReorgTransaction.schema(), BlockIndex.schema()]),
  read(value, name) {
    if (!Array.isArray(value) || value.length !== 2) refuse(name, 'a pair of a transaction and a block index')
    return {
      transaction: ReorgTransaction.read(value[0], `${name}[0]`),
      block: BlockIndex.read(value[1], `${name}[1]`),
    }
  },
}

/** Transactions for the blocks that replace others. */
export const ReorgTransactions = arrayOf(ReorgPair, LIST)

/** Which blocks to replace, and by which; transactions are raw bytes. */
export const ReorgOptions = object(
  { depth: BlockCount, blocks: arrayOf(PlannedBlock, LIST), uncles: Flag },
  { required: ['depth'], closed: true },
)
