/**
 * Results of Alchemy's simulation methods
 * (https://www.alchemy.com/docs/reference/simulation-asset-changes,
 * https://www.alchemy.com/docs/data/simulation-apis/transaction-simulation-endpoints/alchemy-simulate-execution).
 */
import { z } from 'zod'
import type { AbiRegistry } from '../../abi/registry.ts'
import type { Log } from '../../chain/receipt.ts'
import { toHex, toQuantity } from '../../encoding/hex.ts'
import type { ExecutedStep } from '../../engine/queries/simulate-steps.ts'
import { revertReason } from '../../evm/failure-message.ts'
import type { CallFrame, FrameKind } from '../../evm/tracing/call-frame.ts'
import { flatten } from '../../evm/tracing/flatten.ts'
import type { AssetChange, AssetType } from '../../execution/asset-changes.ts'
import type { TokenFacts } from '../../execution/token-facts.ts'
import { type DecodedArgument, decodedArguments } from './decoded-value.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'
import { COIN_DECIMALS, tokenAmount } from './token-amount.ts'
import { ITEM_BYTES, type ReplySize } from './trace/reply-size.ts'
import { FrameType, shownFailure } from './trace/shown-frame.ts'

/** What a reply needs. */
export interface AlchemyReply {
  readonly names: AbiRegistry
  readonly size: ReplySize
}

const Decimal = z.string().regex(/^[0-9]+$/)

const AssetChangeObject = z.lazy(() =>
  z
    .strictObject({
      assetType: z.enum(['NATIVE', 'ERC20', 'ERC721', 'ERC1155']),
      changeType: z.enum(['APPROVE', 'TRANSFER']),
      from: AddressText,
      to: AddressText,
      rawAmount: Decimal.nullable(),
      contractAddress: AddressText.nullable(),
      tokenId: Decimal.nullable(),
      decimals: z.int().nullable(),
      symbol: z.string().nullable(),
      name: z.string().nullable(),
      logo: z.null().describe('comes from a service, which this node does not ask'),
      amount: z.string().nullable(),
    })
    .meta({ id: 'AlchemyAssetChange', description: 'An asset change of alchemy_simulateAssetChanges' }),
)

/** The result of `alchemy_simulateAssetChanges`. */
export const AssetChangesObject = z.lazy(() =>
  z.strictObject({
    changes: z.array(AssetChangeObject),
    gasUsed: QuantityText.nullable(),
    error: z.strictObject({ message: z.string() }).nullable(),
  }),
)

const COIN: TokenFacts = { name: 'Coin', symbol: 'COIN', decimals: COIN_DECIMALS }

/** Decimals as Alchemy shows them: tokens that are no fungible ones have 0. */
function decimalsOf(type: AssetType, { decimals }: TokenFacts): number | undefined {
  return type === 'erc721' || type === 'erc1155' ? 0 : decimals
}

/**
 * The amount. An approval without an amount is for all of it, one of 0 takes it back
 * (https://github.com/alchemyplatform/alchemy-sdk-js/blob/main/docs-md/enums/SimulateChangeType.md).
 */
function rawAmountOf({ type, change, to, amount, approved }: AssetChange): bigint | undefined {
  if (approved !== undefined) return approved ? undefined : 0n
  if (amount !== undefined) return amount
  if (type !== 'erc721') return undefined
  if (change === 'transfer') return 1n
  return BigInt(to) === 0n ? 0n : undefined
}

function toAlchemyChange(change: AssetChange, step: ExecutedStep): z.infer<typeof AssetChangeObject> {
  const { type, from, to, token, tokenId } = change
  const facts = token === undefined ? COIN : (step.tokens.get(token) ?? {})
  const decimals = decimalsOf(type, facts)
  const amount = rawAmountOf(change)
  return {
    assetType: type.toUpperCase() as Uppercase<AssetType>,
    changeType: change.change === 'approve' ? 'APPROVE' : 'TRANSFER',
    from,
    to,
    rawAmount: amount === undefined ? null : String(amount),
    contractAddress: token ?? null,
    tokenId: tokenId === undefined ? null : String(tokenId),
    decimals: decimals ?? null,
    symbol: facts.symbol ?? null,
    name: facts.name ?? null,
    logo: null,
    amount: amount === undefined || decimals === undefined ? null : tokenAmount(amount, decimals),
  }
}

function errorOf({ failure }: ExecutedStep): string | null {
  if (failure === undefined) return null
  if (failure.output === undefined || !failure.reason.includes('revert')) return failure.reason
  const text = revertReason(failure.output)
  return text === undefined ? 'execution reverted' : `execution reverted: ${text}`
}

/** The asset changes of a transaction. Checks the size of the reply before it is built. */
export function toAssetChanges(
  step: ExecutedStep,
  { size }: AlchemyReply,
): z.infer<typeof AssetChangesObject> {
  size(ITEM_BYTES * (1 + 6 * step.assets.length))
  const error = errorOf(step)
  return {
    changes: step.assets.map((change) => toAlchemyChange(change, step)),
    gasUsed: error === null ? toQuantity(step.gasUsed) : null,
    error: error === null ? null : { message: error },
  }
}

/** The only authority of the documentation; here the ABIs are those that this node knows. */
const AUTHORITY = 'ETHERSCAN'

const DecodedParameter = z.strictObject({
  name: z.string(),
  type: z.string(),
  value: z.string().describe('arrays and tuples as JSON'),
})
const DecodedCallObject = z.lazy(() =>
  z.strictObject({
    authority: z.literal(AUTHORITY),
    methodName: z.string(),
    inputs: z.array(DecodedParameter),
    outputs: z.array(DecodedParameter),
  }),
)
const LogObject = z.lazy(() =>
  z.strictObject({
    address: AddressText,
    data: DataText,
    topics: z.array(HashText),
    decoded: z
      .strictObject({
        authority: z.literal(AUTHORITY),
        eventName: z.string(),
        inputs: z.array(DecodedParameter.extend({ indexed: z.boolean() })),
      })
      .nullable(),
  }),
)
const FlatCallObject = z.lazy(() =>
  z.strictObject({
    type: FrameType,
    from: AddressText,
    to: AddressText.nullable(),
    value: QuantityText.nullable(),
    gas: QuantityText,
    gasUsed: QuantityText,
    input: DataText,
    output: DataText,
    error: z.string().optional(),
    revertReason: z.string().optional(),
    decoded: DecodedCallObject.nullable(),
  }),
)
type FlatCall = z.infer<typeof FlatCallObject>

/** A call with the calls in it. */
interface NestedCall extends FlatCall {
  logs?: z.infer<typeof LogObject>[] | undefined
  calls?: NestedCall[] | undefined
}
const NestedCallObject: z.ZodType<NestedCall> = z.lazy(() =>
  FlatCallObject.unwrap().extend({
    logs: z.array(LogObject).optional(),
    calls: z.array(NestedCallObject).optional(),
  }),
)
z.globalRegistry.add(NestedCallObject, {
  id: 'AlchemyCall',
  description: 'A call of alchemy_simulateExecution in the format NESTED',
})

const FlatExecutionObject = z.lazy(() =>
  z.strictObject({
    calls: z.array(FlatCallObject),
    logs: z.array(LogObject),
    error: z.string().nullable(),
    revertReason: z.string().nullable(),
  }),
)

/** The result of `alchemy_simulateExecution`: of the format FLAT, or NESTED. */
export const ExecutionObject = z.lazy(() => z.union([FlatExecutionObject, NestedCallObject]))
/** An execution. */
export type RpcExecution = z.infer<typeof ExecutionObject>
/** How calls are listed. */
export type ExecutionFormat = 'FLAT' | 'NESTED'

function shownParameter({
  parameter: { name, type },
  value,
}: DecodedArgument): z.infer<typeof DecodedParameter> {
  return { name, type, value: typeof value === 'string' ? value : JSON.stringify(value) }
}

function toAlchemyLog(log: Log, { names, size }: AlchemyReply): z.infer<typeof LogObject> {
  size(ITEM_BYTES + log.data.length)
  const event = names.event(log)
  return {
    address: log.address,
    data: toHex(log.data),
    topics: [...log.topics],
    decoded: event
      ? {
          authority: AUTHORITY,
          eventName: event.name,
          inputs: decodedArguments(event).map((one) => ({
            ...shownParameter(one),
            indexed: one.parameter.indexed,
          })),
        }
      : null,
  }
}

function decodedCall({ kind, input, to, output, failure }: CallFrame, { names }: AlchemyReply) {
  const isCreation = kind === 'create' || kind === 'create2'
  const call = isCreation ? undefined : names.call(input, to)
  if (call === undefined) return null
  const values = failure === undefined ? names.returnedValues(call, output) : undefined
  const outputs = values && decodedArguments({ parameters: call.outputs, values })
  return {
    authority: AUTHORITY,
    methodName: call.name,
    inputs: decodedArguments(call).map(shownParameter),
    outputs: outputs?.map(shownParameter) ?? [],
  } as const
}

function toAlchemyCall(frame: CallFrame, reply: AlchemyReply): FlatCall {
  const { kind, from, to, value, gas, gasUsed, input, output } = frame
  reply.size(2 * ITEM_BYTES + input.length + output.length)
  const failure = shownFailure(frame)
  const hasValue = kind !== 'staticcall' && kind !== 'delegatecall'
  const reason = failure?.revertReason
  return {
    type: kind.toUpperCase() as Uppercase<FrameKind>,
    from,
    to: to ?? null,
    value: hasValue ? toQuantity(value) : null,
    gas: toQuantity(gas),
    gasUsed: toQuantity(gasUsed),
    input: toHex(input),
    output: toHex(output),
    ...(failure && { error: failure.kind === 'reverted' ? 'execution reverted' : failure.reason }),
    ...(reason !== undefined && { revertReason: reason }),
    decoded: decodedCall(frame, reply),
  }
}

function toNestedCall(frame: CallFrame, reply: AlchemyReply): NestedCall {
  const logs = frame.logs.flatMap(({ log, index }) => (index === undefined ? [] : [toAlchemyLog(log, reply)]))
  const calls = frame.calls.map((call) => toNestedCall(call, reply))
  return {
    ...toAlchemyCall(frame, reply),
    ...(logs.length > 0 && { logs }),
    ...(calls.length > 0 && { calls }),
  }
}

/** The calls and logs of a transaction. One that could not run has neither, in either format. */
export function toExecution(step: ExecutedStep, format: ExecutionFormat, reply: AlchemyReply): RpcExecution {
  const { root, logs, failure } = step
  if (format === 'NESTED' && root !== undefined) return toNestedCall(root, reply)
  return {
    calls: root === undefined ? [] : flatten(root).map(({ frame }) => toAlchemyCall(frame, reply)),
    logs: logs.map((log) => toAlchemyLog(log, reply)),
    error: errorOf(step),
    revertReason: (failure?.output && revertReason(failure.output)) ?? null,
  }
}
