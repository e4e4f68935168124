/** Simulated blocks on the wire (eth_simulateV1 of the execution API). */

import { z } from 'zod'
import type { ChainConfig } from '../../chain/config.ts'
import { toHex, toQuantity } from '../../encoding/hex.ts'
import type { SimulatedBlock, SimulatedCallResult } from '../../engine/queries/simulate-blocks.ts'
import { type Failure, revertReason } from '../../evm/failure-message.ts'
import { EXECUTION_REVERTED } from '../error-codes.ts'
import { arrayOf, object } from '../parameter.ts'
import { BlockObject, toRpcBlock } from './block.ts'
import { BlockOverridesObject } from './block-overrides.ts'
import { PricedCalls } from './call.ts'
import { LogObject, toRpcReceiptLog } from './log.ts'
import { StateOverrideSet } from './overrides.ts'
import { DataText, Flag, QuantityText } from './scalars.ts'

/** The payload: blocks of calls, and how they run. */
export const SimulationObject = object(
  {
    blockStateCalls: arrayOf(
      object(
        {
          blockOverrides: BlockOverridesObject,
          stateOverrides: StateOverrideSet,
          calls: PricedCalls,
        },
        { nullIsAbsent: true },
      ),
      { indexed: true },
    ),
    traceTransfers: Flag,
    validation: Flag,
    returnFullTransactions: Flag,
  },
  { required: ['blockStateCalls'], nullIsAbsent: true },
)

/** The standard's error code for a failure that is no revert. */
const FAILED = -32015

const CallResultObject = z.lazy(() =>
  z.strictObject({
    status: z.enum(['0x0', '0x1']),
    returnData: DataText.describe('empty if the call failed; `error.data` has the payload of a revert'),
    gasUsed: QuantityText,
    maxUsedGas: QuantityText.describe('the gas used before the refund'),
    logs: z.array(LogObject),
    error: z
      .strictObject({
        code: z.literal([EXECUTION_REVERTED, FAILED]),
        message: z.string(),
        data: DataText.optional(),
      })
      .optional(),
  }),
)

/** A block object with the results of its calls. */
export const SimulatedBlockObject = z.lazy(() =>
  BlockObject.unwrap()
    .extend({ calls: z.array(CallResultObject) })
    .meta({ id: 'SimulatedBlock' }),
)

function errorOf({ kind, reason, output }: Failure): z.infer<typeof CallResultObject>['error'] {
  if (kind === 'failed') return { code: FAILED, message: `vm execution error: ${reason}` }
  const text = revertReason(output)
  const message = text === undefined ? 'execution reverted' : `execution reverted: ${text}`
  return { code: EXECUTION_REVERTED, message, data: toHex(output) }
}

/** A simulated block. */
export function toRpcSimulatedBlock(
  { executed, calls }: SimulatedBlock,
  full: boolean,
  config: ChainConfig,
): z.infer<typeof SimulatedBlockObject> {
  const { hash, block } = executed
  let logIndex = 0
  const resultOf = ({ outcome, logs }: SimulatedCallResult, index: number) => {
    const { succeeded, gasUsed, gasBeforeRefund, output, failure } = outcome
    const error = failure && errorOf(failure)
    return {
      status: succeeded ? ('0x1' as const) : ('0x0' as const),
      returnData: succeeded ? toHex(output) : ('0x' as const),
      gasUsed: toQuantity(gasUsed),
      maxUsedGas: toQuantity(gasBeforeRefund),
      logs: logs.map((log) => ({
        ...toRpcReceiptLog(log, {
          blockHash: hash,
          blockNumber: block.header.number,
          transactionHash: block.transactions[index]?.hash ?? hash,
          transactionIndex: index,
          logIndex: logIndex++,
        }),
        removed: false,
      })),
      ...(error && { error }),
    }
  }
  return { ...toRpcBlock({ executed, pending: false }, full, config), calls: calls.map(resultOf) }
}
