/**
 * Messages and transactions to send, as callers describe them (docs/internals/rpc-reference.md#74-calls-and-estimates,
 * docs/internals/rpc-reference.md#75-sending).
 */
import type { Hex } from '../../encoding/hex.ts'
import type { CallRequest } from '../../execution/request.ts'
import { arrayOf, mapped, named, object, type Parameter, withText } from '../parameter.ts'
import { NamedAddress } from './overrides.ts'
import { Address, Data, Quantity } from './scalars.ts'

/** A message, with the members that only a transaction to send uses. */
export interface CallArgument extends CallRequest {
  readonly from?: Hex
  readonly nonce?: bigint
  /** EIP-1559; the chain has plain gas prices only. */
  readonly maxFeePerGas?: bigint
  /** The value, and the text that the caller wrote. */
  readonly chainId?: { readonly value: bigint; readonly text: string }
}

const MEMBERS = {
  from: Address,
  to: Address,
  gasLimit: Quantity,
  gas: Quantity,
  gasPrice: Quantity,
  maxFeePerGas: Quantity,
  value: Quantity,
  nonce: Quantity,
  chainId: withText(Quantity),
  data: Data,
  input: Data,
} as const

const NamedQuantity = named(Quantity, 'a number, in hex with 0x or in decimal digits')
const NamedData = named(Data, 'hex text')

/** The same members, whose refusals give their paths: a list has many, and the reference node no words for them. */
const LISTED_MEMBERS: typeof MEMBERS = {
  from: NamedAddress,
  to: NamedAddress,
  gasLimit: NamedQuantity,
  gas: NamedQuantity,
  gasPrice: NamedQuantity,
  maxFeePerGas: NamedQuantity,
  value: NamedQuantity,
  nonce: NamedQuantity,
  chainId: withText(NamedQuantity),
  data: NamedData,
  input: NamedData,
}

function callObject(members: typeof MEMBERS): Parameter<CallArgument> {
  return mapped(object(members, { nullIsAbsent: true }), (message): CallArgument => {
    if (message.gasLimit === undefined && message.input === undefined) return message
    const { gasLimit, input, gas = gasLimit, ...rest } = message
    return { ...rest, ...(gas !== undefined && { gas }), ...(input !== undefined && { data: input }) }
  })
}

function priced(call: Parameter<CallArgument>): Parameter<CallArgument> {
  return mapped(call, ({ maxFeePerGas, gasPrice = maxFeePerGas, ...message }) => ({
    ...message,
    ...(gasPrice !== undefined && { gasPrice }),
  }))
}

/** The call object. Null members count as absent, unknown ones are ignored, `input` wins over `data`, `gas` over `gasLimit`. */
export const CallObject: Parameter<CallArgument> = callObject(MEMBERS)

/** The same for clients that price by EIP-1559: without `gasPrice`, `maxFeePerGas` becomes the legacy gas price. */
export const PricedCallObject: Parameter<CallArgument> = priced(CallObject)

/** Calls of methods that the reference node does not have: refusals give the path of the call and its member. */
export const PricedCalls: Parameter<readonly CallArgument[]> = arrayOf(priced(callObject(LISTED_MEMBERS)), {
  indexed: true,
})
