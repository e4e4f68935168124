/**
 * Results of the simulation methods of Tenderly's node
 * (https://docs.tenderly.co/node-rpc/guides/simulate-json-rpc, https://docs.tenderly.co/simulations/asset-balance-changes).
 */
import { z } from 'zod'
import type { AbiRegistry } from '../../abi/registry.ts'
import { ZERO_ADDRESS } from '../../chain/account.ts'
import { logsBloom } from '../../chain/bloom.ts'
import type { Log } from '../../chain/receipt.ts'
import { typeText } from '../../chain/transaction-types.ts'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { ExecutedStep } from '../../engine/queries/simulate-steps.ts'
import type { FrameKind } from '../../evm/tracing/call-frame.ts'
import { type FlatFrame, flatten } from '../../evm/tracing/flatten.ts'
import type { AccountChange, Change } from '../../execution/account-changes.ts'
import type { AssetChange } from '../../execution/asset-changes.ts'
import type { TokenFacts } from '../../execution/token-facts.ts'
import { type DecodedArgument, DecodedJsonObject, decodedArguments } from './decoded-value.ts'
import { AddressText, BloomText, DataText, HashText, QuantityText } from './scalars.ts'
import { COIN_DECIMALS, tokenAmount } from './token-amount.ts'
import { ITEM_BYTES, type ReplySize } from './trace/reply-size.ts'
import { FrameType, shownFailure } from './trace/shown-frame.ts'
import { TypeText } from './transaction.ts'

/** What a reply needs. */
export interface TenderlyReply {
  readonly names: AbiRegistry
  readonly size: ReplySize
}

const DecodedInput = z.lazy(() =>
  z.strictObject({
    value: DecodedJsonObject,
    type: z.string(),
    name: z.string().optional(),
    indexed: z.boolean(),
  }),
)
const LogObject = z.lazy(() =>
  z.strictObject({
    name: z.string().describe('empty where the ABI is not known'),
    anonymous: z.boolean(),
    inputs: z.array(DecodedInput).nullable(),
    raw: z.strictObject({ address: AddressText, topics: z.array(HashText), data: DataText }),
  }),
)
const TraceObject = z.lazy(() =>
  z.strictObject({
    type: FrameType,
    from: AddressText,
    to: AddressText.optional(),
    gas: QuantityText,
    gasUsed: QuantityText,
    value: QuantityText.optional(),
    error: z.string().optional(),
    input: DataText,
    decodedInput: z.array(DecodedInput).optional(),
    method: z.string().optional(),
    output: DataText,
    decodedOutput: z.array(DecodedInput).optional(),
    subtraces: z.int().nonnegative(),
    traceAddress: z.array(z.int().nonnegative()),
  }),
)
const AssetChangeObject = z.lazy(() =>
  z
    .strictObject({
      assetInfo: z.strictObject({
        standard: z.enum(['NativeCurrency', 'ERC20', 'ERC721', 'ERC1155']),
        type: z.enum(['Native', 'Fungible', 'NonFungible']).optional(),
        contractAddress: AddressText.optional(),
        symbol: z.string().optional(),
        name: z.string().optional(),
        decimals: z.int().optional(),
      }),
      type: z.enum(['Mint', 'Burn', 'Transfer']),
      from: AddressText.optional(),
      to: AddressText.optional(),
      rawAmount: QuantityText,
      amount: z.string().optional(),
      tokenId: QuantityText.optional(),
    })
    .meta({ id: 'TenderlyAssetChange', description: 'An asset change of tenderly_simulateTransaction' }),
)
const changeOf = <T extends z.ZodType<Hex>>(value: T) =>
  z.strictObject({ previousValue: value, newValue: value })
const StateChangeObject = z.lazy(() =>
  z
    .strictObject({
      address: AddressText,
      nonce: changeOf(QuantityText).optional(),
      balance: changeOf(QuantityText).optional(),
      storage: z.array(changeOf(HashText).extend({ slot: HashText })).optional(),
    })
    .meta({ id: 'TenderlyStateChange', description: 'A changed account of tenderly_simulateTransaction' }),
)

/** The result of `tenderly_simulateTransaction`. Lists of changes are absent where nothing changed. */
export const TenderlySimulation = z.lazy(() =>
  z
    .strictObject({
      status: z.boolean(),
      gasUsed: QuantityText,
      cumulativeGasUsed: QuantityText,
      blockNumber: QuantityText,
      type: TypeText,
      logsBloom: BloomText,
      logs: z.array(LogObject),
      trace: z.array(TraceObject),
      assetChanges: z.array(AssetChangeObject).optional(),
      stateChanges: z.array(StateChangeObject).optional(),
    })
    .meta({ id: 'TenderlySimulation', description: 'What a transaction would do, in the form of Tenderly' }),
)

function toInput({
  parameter: { name, type, indexed },
  value,
}: DecodedArgument): z.infer<typeof DecodedInput> {
  return { value, type, ...(name !== '' && { name }), indexed }
}

function toTenderlyLog(log: Log, { names, size }: TenderlyReply): z.infer<typeof LogObject> {
  size(ITEM_BYTES + log.data.length)
  const event = names.event(log)
  return {
    name: event?.name ?? '',
    anonymous: false,
    inputs: event ? decodedArguments(event).map(toInput) : null,
    raw: { address: log.address, topics: [...log.topics], data: toHex(log.data) },
  }
}

type DecodedMembers = Pick<z.infer<typeof TraceObject>, 'decodedInput' | 'method' | 'decodedOutput'>

function decodedCall(
  { frame: { kind, to, input, output, failure } }: FlatFrame,
  { names }: TenderlyReply,
): DecodedMembers {
  const isCreation = kind === 'create' || kind === 'create2'
  const call = isCreation ? undefined : names.call(input, to)
  if (call === undefined) return {}
  const inputs = decodedArguments(call).map(toInput)
  const values = failure === undefined ? names.returnedValues(call, output) : undefined
  return {
    method: call.name,
    ...(inputs.length > 0 && { decodedInput: inputs }),
    ...(values && { decodedOutput: decodedArguments({ parameters: call.outputs, values }).map(toInput) }),
  }
}

function toTrace(flat: FlatFrame, reply: TenderlyReply): z.infer<typeof TraceObject> {
  const { kind, from, to, gas, gasUsed, value, input, output } = flat.frame
  reply.size(2 * ITEM_BYTES + input.length + output.length)
  const failure = shownFailure(flat.frame)
  const hasValue = kind !== 'staticcall' && kind !== 'delegatecall'
  const { decodedInput, method, decodedOutput } = decodedCall(flat, reply)
  return {
    type: kind.toUpperCase() as Uppercase<FrameKind>,
    from,
    ...(to !== undefined && { to }),
    gas: toQuantity(gas),
    gasUsed: toQuantity(gasUsed),
    ...(hasValue && { value: toQuantity(value) }),
    ...(failure && { error: failure.kind === 'reverted' ? 'execution reverted' : failure.reason }),
    input: toHex(input),
    ...(decodedInput && { decodedInput }),
    ...(method !== undefined && { method }),
    output: toHex(output),
    ...(decodedOutput && { decodedOutput }),
    subtraces: flat.children,
    traceAddress: [...flat.path],
  }
}

const STANDARD = {
  native: { standard: 'NativeCurrency', type: 'Native' },
  erc20: { standard: 'ERC20', type: 'Fungible' },
  erc721: { standard: 'ERC721', type: 'NonFungible' },
  // A token of this standard may be either.
  erc1155: { standard: 'ERC1155' },
} as const

const COIN: TokenFacts = { name: 'Coin', symbol: 'COIN', decimals: COIN_DECIMALS }

function toAssetChange(change: AssetChange, step: ExecutedStep): z.infer<typeof AssetChangeObject> {
  const { type, from, to, token, amount = 1n, tokenId } = change
  const { name, symbol, decimals } = token === undefined ? COIN : (step.tokens.get(token) ?? {})
  const kind =
    token === undefined
      ? 'Transfer'
      : from === ZERO_ADDRESS
        ? 'Mint'
        : to === ZERO_ADDRESS
          ? 'Burn'
          : 'Transfer'
  const shown = type === 'erc721' || type === 'erc1155' ? 0 : decimals
  return {
    assetInfo: {
      ...STANDARD[type],
      ...(token !== undefined && { contractAddress: token }),
      ...(symbol !== undefined && { symbol }),
      ...(name !== undefined && { name }),
      ...(decimals !== undefined && { decimals }),
    },
    type: kind,
    ...(kind !== 'Mint' && { from }),
    ...(kind !== 'Burn' && { to }),
    rawAmount: toQuantity(amount),
    ...(shown !== undefined && { amount: tokenAmount(amount, shown) }),
    ...(tokenId !== undefined && { tokenId: toQuantity(tokenId) }),
  }
}

const values = <T>({ from, to }: Change<T>, text: (value: T) => Hex) => ({
  previousValue: text(from),
  newValue: text(to),
})
const word = (value: bigint): Hex => toFixedHex(value, 32)

function toStateChange({
  address,
  nonce,
  balance,
  storage,
}: AccountChange): z.infer<typeof StateChangeObject> {
  return {
    address,
    ...(nonce && { nonce: values(nonce, toQuantity) }),
    ...(balance && { balance: values(balance, toQuantity) }),
    ...(storage.length > 0 && {
      storage: storage.map((change) => ({ slot: word(change.slot), ...values(change, word) })),
    }),
  }
}

/** What a transaction did. Checks the size of the reply before it is built. */
export function toTenderlySimulation(
  step: ExecutedStep,
  reply: TenderlyReply,
): z.infer<typeof TenderlySimulation> {
  const { succeeded, gasUsed, block, logs, root } = step
  const transfers = step.assets.filter(({ change }) => change === 'transfer')
  const changes = step.changes.filter(({ nonce, balance, storage }) => nonce || balance || storage.length > 0)
  const slots = changes.reduce((sum, { storage }) => sum + storage.length, 0)
  reply.size(ITEM_BYTES * (4 + 6 * transfers.length + 2 * changes.length + 2 * slots))
  return {
    status: succeeded,
    gasUsed: toQuantity(gasUsed),
    cumulativeGasUsed: toQuantity(gasUsed),
    blockNumber: toQuantity(block.number),
    type: typeText(step.type),
    logsBloom: toHex(logsBloom(logs)),
    logs: logs.map((log) => toTenderlyLog(log, reply)),
    trace: root === undefined ? [] : flatten(root).map((frame) => toTrace(frame, reply)),
    ...(transfers.length > 0 && { assetChanges: transfers.map((change) => toAssetChange(change, step)) }),
    ...(changes.length > 0 && { stateChanges: changes.map(toStateChange) }),
  }
}
