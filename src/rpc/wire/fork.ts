/** What `evm_` methods that make the chain fork take: what to mine, which blocks to replace by which. */
import { LATEST_TIMESTAMP } from '../../engine/clock.ts'
import type { MineRequest } from '../../engine/model.ts'
import { arrayOf, either, mapped, object, orNull, type Parameter } from '../parameter.ts'
import { Address, BlockHash, Data, Flag, wholeNumber } from './scalars.ts'

/** Most blocks of one call: they are built without a pause, and everything else waits. */
const MAX_BLOCKS = 10_000
const LIST = { most: MAX_BLOCKS, what: 'a list', indexed: true }

/** Seconds since 1970 that a block may carry. */
export const Timestamp = wholeNumber('seconds since 1970, number or hex', LATEST_TIMESTAMP)
/** How many blocks one call may ask for. */
export const BlockCount = wholeNumber('how many blocks, number or hex', MAX_BLOCKS)

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

/** Which blocks to replace by which; transactions in raw bytes. */
export const ReorgOptions = object(
  { depth: BlockCount, blocks: arrayOf(PlannedBlock, LIST), uncles: Flag },
  { required: ['depth'], closed: true },
)
