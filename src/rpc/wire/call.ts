/**
 * Messages and transactions to send, as callers describe them (docs/internals/rpc-reference.md#74-calls-and-estimates,
 * docs/internals/rpc-reference.md#75-sending).
 */
import type { Hex } from '../../encoding/hex.ts'
import type { CallRequest } from '../../execution/request.ts'
import { mapped, object, type Parameter, withText } from '../parameter.ts'
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

const members = object(
  {
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
  },
  { nullIsAbsent: true },
)

/** The call object. Null members count as absent, unknown ones are ignored, `input` wins over `data`, `gas` over `gasLimit`. */
export const CallObject: Parameter<CallArgument> = mapped(members, (message): CallArgument => {
  if (message.gasLimit === undefined && message.input === undefined) return message
  const { gasLimit, input, gas = gasLimit, ...rest } = message
  return { ...rest, ...(gas !== undefined && { gas }), ...(input !== undefined && { data: input }) }
})

/** The same for clients that price by EIP-1559: without `gasPrice`, `maxFeePerGas` becomes the legacy gas price. */
export const PricedCallObject: Parameter<CallArgument> = mapped(
  CallObject,
  ({ maxFeePerGas, gasPrice = maxFeePerGas, ...message }) => ({
    ...message,
    ...(gasPrice !== undefined && { gasPrice }),
  }),
)
