/** Logs on the wire (docs/internals/rpc-reference.md#64-log); they have `removed` everywhere except in receipts. */
import { z } from 'zod'
import type { Log } from '../../chain/receipt.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { LogView } from '../../engine/model.ts'
import type { Dialect } from '../dialects.ts'
import { MOST_AS_OBJECTS, type WrittenJson } from '../raw-json.ts'
import { LogTexts } from './log-texts.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'

/** A log within its receipt. */
export const ReceiptLogObject = z.lazy(() =>
  z.strictObject({
    logIndex: QuantityText,
    blockNumber: QuantityText,
    blockHash: HashText,
    transactionHash: HashText,
    transactionIndex: QuantityText,
    address: AddressText,
    data: DataText,
    topics: z.array(HashText),
    blockTimestamp: QuantityText.optional().describe('with --dialect anvil'),
  }),
)

/** A log on its own. */
export const LogObject = z.lazy(() =>
  ReceiptLogObject.unwrap().extend({ removed: z.boolean() }).meta({ id: 'Log' }),
)

/** A log object. */
export type RpcLog = z.infer<typeof LogObject>

/** Where a log stands; `logIndex` counts over the block. */
export interface LogPlace {
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
  /** Unix seconds, where it is shown. */
  readonly blockTimestamp?: number | undefined
}

/** Does a dialect show the timestamp of its block in a log? Anvil does, as ethereum/execution-apis has it. */
export function showsTimestamps(dialect: Dialect): boolean {
  return dialect === 'anvil'
}

/** A log as a receipt holds it. */
export function toRpcReceiptLog(log: Log, place: LogPlace): z.infer<typeof ReceiptLogObject> {
  const shown = {
    logIndex: toQuantity(place.logIndex),
    blockNumber: toQuantity(place.blockNumber),
    blockHash: place.blockHash,
    transactionHash: place.transactionHash,
    transactionIndex: toQuantity(place.transactionIndex),
    address: log.address,
    data: toHex(log.data),
    topics: [...log.topics],
  }
  const { blockTimestamp } = place
  return blockTimestamp === undefined ? shown : { ...shown, blockTimestamp: toQuantity(blockTimestamp) }
}

/** A log as queries, filters and notifications return it. */
export function toRpcLog(view: LogView, dialect: Dialect = 'rsk'): RpcLog {
  const { log, block, transaction, transactionIndex, logIndex, removed } = view
  const place = {
    blockHash: block.hash,
    blockNumber: block.block.header.number,
    transactionHash: transaction.hash,
    transactionIndex,
    logIndex,
    blockTimestamp: showsTimestamps(dialect) ? block.block.header.timestamp : undefined,
  }
  return { ...toRpcReceiptLog(log, place), removed }
}

/** The JSON of `toRpcLog`, faster than building the object and serialising it. */
function logText(view: LogView, isTimed: boolean): string {
  const { log, block, transaction, transactionIndex, logIndex, removed } = view
  const timestamp = isTimed ? block.block.header.timestamp : undefined
  const time = timestamp !== undefined ? `"blockTimestamp":"${toQuantity(timestamp)}",` : ''
  let topics = ''
  for (const topic of log.topics) topics += topics === '' ? `"${topic}"` : `,"${topic}"`
  return (
    `{"logIndex":"0x${logIndex.toString(16)}","blockNumber":"0x${block.block.header.number.toString(16)}",` +
    `"blockHash":"${block.hash}","transactionHash":"${transaction.hash}",` +
    `"transactionIndex":"0x${transactionIndex.toString(16)}","address":"${log.address}",` +
    `"data":"${toHex(log.data)}","topics":[${topics}],${time}"removed":${removed}}`
  )
}

/** Maximum bytes of log texts that a node keeps: about 25,000 logs of token transfers. */
const KEPT_BYTES = 16 << 20

/** The log texts that a node keeps; uses no memory before the first long answer. */
export function createLogTexts(dialect: Dialect): LogTexts {
  const isTimed = showsTimestamps(dialect)
  return new LogTexts((view) => logText(view, isTimed), KEPT_BYTES)
}

/** Logs as queries and filters return them. */
export function toRpcLogs(
  views: readonly LogView[],
  texts: LogTexts,
  dialect: Dialect,
): RpcLog[] | WrittenJson {
  return views.length > MOST_AS_OBJECTS ? texts.array(views) : views.map((view) => toRpcLog(view, dialect))
}
