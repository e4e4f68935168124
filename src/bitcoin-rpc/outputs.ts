/** Outputs as parameters: amounts by address, and data. */

import { OP, push } from '../bitcoin/script.ts'
import type { Output } from '../bitcoin/transaction.ts'
import { concat } from '../encoding/bytes.ts'
import { satoshiOf } from './amount.ts'
import { bytesOf, scriptFor, shown } from './parameters.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

/** Satoshi of a value of unknown type. */
export function amountOf(value: unknown): bigint {
  if (typeof value === 'number' || typeof value === 'string') return satoshiOf(value)
  throw new RpcFailure(CODE.TYPE, 'Amount is not a number or string')
}

function outputOf(name: string, value: unknown): Output {
  if (name !== 'data')
    return { value: amountOf(value), script: scriptFor(name, `Invalid Bitcoin address: ${shown(name)}`) }
  const data = bytesOf(typeof value === 'string' ? value : '', 'Data')
  return { value: 0n, script: concat(Uint8Array.of(OP.RETURN), push(data)) }
}

/** The outputs of an object, or of a list of objects. Throws a failure. */
export function outputsOf(
  given: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[],
): readonly Output[] {
  const objects: readonly Readonly<Record<string, unknown>>[] = isList(given) ? given : [given]
  const pairs = objects.flatMap((object) => Object.entries(object))
  const names = pairs.map(([name]) => name)
  const double = names.find((name, i) => name !== 'data' && names.indexOf(name) !== i)
  if (double !== undefined)
    throw new RpcFailure(CODE.PARAMETER, `Invalid parameter, duplicated address: ${shown(double)}`)
  return pairs.map(([name, value]) => outputOf(name, value))
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}
