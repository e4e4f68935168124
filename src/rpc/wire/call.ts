/**
 * Messages and transactions to send, as callers describe them (docs/internals/rpc-reference.md#74-calls-and-estimates,
 * docs/internals/rpc-reference.md#75-sending).
 */
import type { Hex } from '../../encoding/hex.ts'
import type { CallRequest } from '../../execution/request.ts'
import { arrayOf, mapped, named, object, type Parameter, withText } from '../parameter.ts'
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

interface MemberTypes {
  readonly address: Parameter<Hex>
  readonly quantity: Parameter<bigint>
  readonly bytes: Parameter<Uint8Array>
}

function callObjectOf({ address, quantity, bytes }: MemberTypes): Parameter<CallArgument> {
  const members = object(
    {
      from: address,
      to: address,
      gasLimit: quantity,
      gas: quantity,
      gasPrice: quantity,
      maxFeePerGas: quantity,
      value: quantity,
      nonce: quantity,
      chainId: withText(quantity),
      data: bytes,
      input: bytes,
    },
    { nullIsAbsent: true },
  )
  return mapped(members, (message): CallArgument => {
    if (message.gasLimit === undefined && message.input === undefined) return message
    const { gasLimit, input, gas = gasLimit, ...rest } = message
    return { ...rest, ...(gas !== undefined && { gas }), ...(input !== undefined && { data: input }) }
  })
}

/** Prices as EIP-1559 does: without `gasPrice`, `maxFeePerGas` becomes the legacy gas price. */
function priced(call: Parameter<CallArgument>): Parameter<CallArgument> {
  return mapped(call, ({ maxFeePerGas, gasPrice = maxFeePerGas, ...message }) => ({
    ...message,
    ...(gasPrice !== undefined && { gasPrice }),
  }))
}

/** The call object. Null members count as absent, unknown ones are ignored, `input` wins over `data`, `gas` over `gasLimit`. */
export const CallObject: Parameter<CallArgument> = callObjectOf({
  address: Address,
  quantity: Quantity,
  bytes: Data,
})

/** The same for clients that price by EIP-1559. */
export const PricedCallObject: Parameter<CallArgument> = priced(CallObject)

/** The same within a list, where a refusal names the path of the member. */
export const NamedCallObject: Parameter<CallArgument> = priced(
  callObjectOf({
    address: named(Address, 'an address'),
    quantity: named(Quantity, 'a number, in hex with 0x or in decimal digits'),
    bytes: named(Data, 'hex text'),
  }),
)

/** Calls of methods that the reference node does not have: refusals give the path of the call and its member. */
export const PricedCalls: Parameter<readonly CallArgument[]> = arrayOf(NamedCallObject, { indexed: true })
