/**
 * Messages and transactions to send, as callers describe them (docs/internals/rpc-reference.md#74-calls-and-estimates,
 * docs/internals/rpc-reference.md#75-sending).
 */
import type { Hex } from '../../encoding/hex.ts'
import { isObject } from '../../encoding/json-object.ts'
import type { CallRequest } from '../../execution/request.ts'
import { arrayOf, mapped, named, object, type Parameter, withText } from '../parameter.ts'
import { Address, Data, Quantity } from './scalars.ts'
import { TYPED_MEMBERS, type TypedMembers } from './typed-call.ts'

/** A message, with the members that only a transaction to send uses. */
export interface CallArgument extends CallRequest {
  readonly from?: Hex
  readonly nonce?: bigint
  /** EIP-1559; where the chain has plain gas prices only, that of a legacy transaction. */
  readonly maxFeePerGas?: bigint
  /** What only typed transactions have, as the caller wrote it. */
  readonly typedMembers?: TypedMembers
  /** The value, and the text that the caller wrote. */
  readonly chainId?: { readonly value: bigint; readonly text: string }
}

interface MemberTypes {
  readonly address: Parameter<Hex>
  readonly quantity: Parameter<bigint>
  readonly bytes: Parameter<Uint8Array>
}

const TYPED_NAMES = Object.keys(TYPED_MEMBERS) as readonly (keyof TypedMembers)[]

/** The members that only typed transactions have, if there are any. */
function typedMembersOf(value: unknown): TypedMembers | undefined {
  if (!isObject(value)) return undefined
  // Nothing is allocated for a call without such members, as almost all are.
  let given: Record<string, unknown> | undefined
  for (const name of TYPED_NAMES) {
    if (value[name] === undefined || value[name] === null) continue
    given ??= {}
    given[name] = value[name]
  }
  return given
}

function callObjectOf({ address, quantity, bytes }: MemberTypes): Parameter<CallArgument> {
  const plain = {
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
  }
  const members = object(plain, { nullIsAbsent: true })
  return {
    schema: object({ ...plain, ...TYPED_MEMBERS }, { nullIsAbsent: true }).schema,
    read(value, name): CallArgument {
      const message = members.read(value, name)
      const typedMembers = typedMembersOf(value)
      if (message.gasLimit === undefined && message.input === undefined && typedMembers === undefined)
        return message
      const { gasLimit, input, gas = gasLimit, ...rest } = message
      return {
        ...rest,
        ...(gas !== undefined && { gas }),
        ...(input !== undefined && { data: input }),
        ...(typedMembers && { typedMembers }),
      }
    },
  }
}

/** Prices as EIP-1559 does: without `gasPrice`, `maxFeePerGas` becomes the legacy gas price. */
function priced(call: Parameter<CallArgument>): Parameter<CallArgument> {
  return mapped(call, (message) => {
    const { maxFeePerGas, gasPrice = maxFeePerGas } = message
    return gasPrice === undefined ? message : { ...message, gasPrice }
  })
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
