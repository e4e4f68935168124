/** Answers about prices while they are high. */
import { toQuantity } from '../encoding/hex.ts'

const PRICE_METHODS = ['eth_gasPrice', 'eth_maxPriorityFeePerGas', 'eth_feeHistory']

/** Does the method answer a price of gas? */
export function answersPrice(method: string): boolean {
  return PRICE_METHODS.includes(method)
}

function times(value: unknown, factor: number): unknown {
  if (Array.isArray(value)) return value.map((one) => times(one, factor))
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value)) return value
  return toQuantity(BigInt(value) * BigInt(factor))
}

/** The result of such a method, with prices times a factor. */
export function withHigherPrices(result: unknown, factor: number): unknown {
  if (typeof result !== 'object' || result === null) return times(result, factor)
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [
      name,
      name === 'baseFeePerGas' || name === 'reward' ? times(value, factor) : value,
    ]),
  )
}
