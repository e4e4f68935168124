/**
 * Messages and transactions to send, as callers describe them (docs/rpc-reference.md#74-calls-and-estimates,
 * docs/rpc-reference.md#75-sending).
 */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import type { CallRequest } from '../../execution/request.ts'
import type { Parameter } from '../method.ts'
import { Address, Data, Quantity, refuse } from './scalars.ts'

/** A message, with the members that only a transaction to send makes use of. */
export interface CallArgument extends CallRequest {
  readonly from?: Hex
  readonly nonce?: bigint
  /** As understood, and in the caller's words. */
  readonly chainId?: { readonly value: bigint; readonly text: string }
}

const amount = Quantity.schema.optional()

/** The call object. Null members count as absent, unknown ones are ignored, `input` wins over `data`, `gas` over `gasLimit`. */
export const CallObject: Parameter<CallArgument> = {
  schema: z.object({
    from: Address.schema.optional(),
    to: Address.schema.optional(),
    gas: amount,
    gasPrice: amount,
    value: amount,
    data: Data.schema.optional(),
    input: Data.schema.optional(),
    nonce: amount,
    chainId: amount,
  }),
  read(value, name) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(name, 'an object')
    const given = value as Record<string, unknown>
    const member = <T>(key: string, parameter: Parameter<T>): T | undefined => {
      const found = Object.hasOwn(given, key) ? given[key] : undefined
      return found === undefined || found === null ? undefined : parameter.read(found, `${name}.${key}`)
    }
    const from = member('from', Address)
    const to = member('to', Address)
    const gasLimit = member('gasLimit', Quantity)
    const gas = member('gas', Quantity) ?? gasLimit
    const gasPrice = member('gasPrice', Quantity)
    const amountSent = member('value', Quantity)
    const nonce = member('nonce', Quantity)
    const chainId = member('chainId', Quantity)
    const data = member('data', Data)
    const input = member('input', Data) ?? data
    return {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(gas !== undefined && { gas }),
      ...(gasPrice !== undefined && { gasPrice }),
      ...(amountSent !== undefined && { value: amountSent }),
      ...(nonce !== undefined && { nonce }),
      ...(chainId !== undefined && { chainId: { value: chainId, text: String(given.chainId) } }),
      ...(input !== undefined && { data: input }),
    }
  },
}
