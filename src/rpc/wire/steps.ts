/** Simulated steps on the wire (`evm_simulate`). */
import { z } from 'zod'
import type { AbiRegistry } from '../../abi/registry.ts'
import { LATEST_TIMESTAMP } from '../../chain/config.ts'
import type { Log } from '../../chain/receipt.ts'
import { TYPE, typeText } from '../../chain/transaction-types.ts'
import { toHex, toQuantity } from '../../encoding/hex.ts'
import type { ExecutedStep, StepBlock, StepResult } from '../../engine/queries/simulate-steps.ts'
import { type NamingBudget, VariableChanges, wordsOf } from '../../execution/variable-changes.ts'
import type { LayoutAt } from '../../execution/variables.ts'
import { arrayOf, object } from '../parameter.ts'
import { AssetChangeObject, toRpcAssetChange } from './asset-change.ts'
import { BlockOverridesObject } from './block-overrides.ts'
import { NamedCallObject } from './call.ts'
import { DecodedObject, toRpcDecoded } from './decoded.ts'
import { ReceiptLogObject } from './log.ts'
import { OverriddenAccounts, StateOverrideSet } from './overrides.ts'
import { AddressText, DataText, QuantityText, wholeNumber } from './scalars.ts'
import { StateChangeObject, toRpcStateChange } from './state-change.ts'
import { CallFrameObject, toRpcCallTree } from './trace/call-tracer.ts'
import { ITEM_BYTES, type ReplySize } from './trace/reply-size.ts'
import { NOWHERE } from './trace/tracer-record.ts'
import { TypeText } from './transaction.ts'

/** Maximum number of steps per simulation: each adds a state overlay over the previous one. */
const MOST_STEPS = 100

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const WarpObject = object(
  {
    seconds: wholeNumber('seconds to add to the timestamp', LATEST_TIMESTAMP),
    blocks: wholeNumber('blocks to add to the block number', Number.MAX_SAFE_INTEGER),
    time: wholeNumber('the timestamp, seconds since 1970', LATEST_TIMESTAMP),
  },
  {
    nullIsAbsent: true,
    closed: true,
    check({ seconds, blocks, time }, name) {
      if (isGiven(seconds) && isGiven(time))
        return `${name}.seconds and ${name}.time cannot be set at the same time`
      return [seconds, blocks, time].some(isGiven)
        ? undefined
        : `Invalid ${name}: expected seconds, blocks or time.`
    },
  },
)

const STEP_KINDS = ['call', 'send', 'set', 'warp'] as const

const StepObject = object(
  { call: NamedCallObject, send: NamedCallObject, set: OverriddenAccounts, warp: WarpObject },
  {
    nullIsAbsent: true,
    closed: true,
    check(members, name) {
      const count = STEP_KINDS.filter((kind) => isGiven(members[kind])).length
      return count === 1 ? undefined : `Invalid ${name}: expected exactly one of call, send, set and warp.`
    },
  },
)

/** Steps, and what they start from. */
export const StepSimulationObject = object(
  {
    steps: arrayOf(StepObject, { most: MOST_STEPS, indexed: true }),
    stateOverrides: StateOverrideSet,
    blockOverrides: BlockOverridesObject,
    transactionIndex: wholeNumber(
      'How many transactions of the block have run before the steps; all unless given',
      2 ** 31 - 1,
    ),
  },
  { required: ['steps'], nullIsAbsent: true, closed: true },
)

const StepLogObject = z.lazy(() =>
  ReceiptLogObject.unwrap()
    .pick({ logIndex: true, blockNumber: true, address: true, data: true, topics: true })
    .extend({ decoded: DecodedObject.describe('the event, where its ABI is known').optional() }),
)

const BlockPlace = z.strictObject({ number: QuantityText, timestamp: QuantityText })

const OutcomeObject = z.lazy(() =>
  z.strictObject({
    kind: z.enum(['call', 'send']),
    block: BlockPlace,
    type: TypeText.describe('of its transaction; absent for a legacy one').optional(),
    status: z.enum(['0x0', '0x1']),
    returnData: DataText,
    gasUsed: QuantityText,
    error: z.strictObject({ message: z.string(), data: DataText.optional() }).optional(),
    contractAddress: AddressText.optional(),
    logs: z.array(StepLogObject),
    trace: CallFrameObject.optional(),
    assetChanges: z.array(AssetChangeObject),
    stateChanges: z.array(StateChangeObject),
  }),
)

/** What a step did; a message that could not run has no trace. */
export const StepResultObject = z.lazy(() =>
  z
    .union([z.strictObject({ kind: z.enum(['set', 'warp']), block: BlockPlace }), OutcomeObject])
    .meta({ id: 'SimulatedStep', description: 'What one step of a simulation did' }),
)

/** A step result. */
export type RpcStepResult = z.infer<typeof StepResultObject>

/** What a reply about steps needs. */
export interface StepReply {
  readonly names: AbiRegistry
  readonly layoutAt: LayoutAt
  /** For all steps. */
  readonly naming: NamingBudget
  readonly size: ReplySize
}

function toRpcBlockPlace({ number, timestamp }: StepBlock): z.infer<typeof BlockPlace> {
  return { number: toQuantity(number), timestamp: toQuantity(timestamp) }
}

function toRpcStepLog(log: Log, logIndex: number, block: StepBlock, { names, size }: StepReply) {
  size(ITEM_BYTES + log.data.length)
  const event = names.event(log)
  return {
    logIndex: toQuantity(logIndex),
    blockNumber: toQuantity(block.number),
    address: log.address,
    data: toHex(log.data),
    topics: [...log.topics],
    ...(event && { decoded: toRpcDecoded(event) }),
  }
}

function errorOf({ failure }: ExecutedStep) {
  if (failure === undefined) return undefined
  const { reason, output } = failure
  return { message: reason, ...(output !== undefined && output.length > 0 && { data: toHex(output) }) }
}

function toRpcOutcome(step: ExecutedStep, reply: StepReply): z.infer<typeof OutcomeObject> {
  const { kind, type, block, succeeded, output, gasUsed, created, logs, root, assets, tokens, changes } = step
  const { size, layoutAt, naming } = reply
  const variables = new VariableChanges(step.before, step.after, layoutAt, wordsOf(root), naming)
  size(ITEM_BYTES + output.length + (step.failure?.output?.length ?? 0))
  const error = errorOf(step)
  return {
    kind,
    block: toRpcBlockPlace(block),
    ...(type !== TYPE.legacy && { type: typeText(type) }),
    status: succeeded ? '0x1' : '0x0',
    returnData: toHex(output),
    gasUsed: toQuantity(gasUsed),
    ...(error && { error }),
    ...(created !== undefined && { contractAddress: created }),
    logs: logs.map((log, index) => toRpcStepLog(log, index, block, reply)),
    ...(root && {
      trace: toRpcCallTree(root, { onlyTopCall: false, withLog: true }, NOWHERE, {
        size,
        errorTexts: 'plain',
      }),
    }),
    assetChanges: assets.map((change) => toRpcAssetChange(change, tokens.get(change.token ?? '0x'), size)),
    stateChanges: changes.map((change) => toRpcStateChange(change, variables, size)),
  }
}

/** What a step did. Checks the size of the reply before it is built. */
export function toRpcStepResult(step: StepResult, reply: StepReply): RpcStepResult {
  if (step.kind === 'call' || step.kind === 'send') return toRpcOutcome(step, reply)
  reply.size(ITEM_BYTES)
  return { kind: step.kind, block: toRpcBlockPlace(step.block) }
}
