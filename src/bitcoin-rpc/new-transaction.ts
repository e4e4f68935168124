/** Transactions as parameters outline them: what they spend, and what they pay. */
import { z } from 'zod'
import { fromDisplayed } from '../bitcoin/displayed-hash.ts'
import type { Transaction } from '../bitcoin/transaction.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { outputsOf } from './outputs.ts'
import { flag, hashOf, integer, outputs, text } from './parameters.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

const RawInput = z.object({ txid: text, vout: integer, sequence: integer.optional() })

/** The sequence of an input: given, or as lock time and replacement ask for. */
function sequenceOf(given: number | undefined, lockTime: number, isReplaceable: boolean): number {
  if (given !== undefined) {
    if (given < 0 || given > 0xffffffff)
      throw new RpcFailure(CODE.PARAMETER, 'Invalid parameter, sequence number is out of range')
    return given
  }
  return isReplaceable ? 0xfffffffd : lockTime > 0 ? 0xfffffffe : 0xffffffff
}

/** The parameters. */
export const NEW_TRANSACTION = {
  inputs: z.array(RawInput),
  outputs,
  locktime: integer.default(0),
  replaceable: flag.default(true),
}

type Outline = { readonly [Name in keyof typeof NEW_TRANSACTION]: z.output<(typeof NEW_TRANSACTION)[Name]> }

/** The transaction, without scripts of inputs. Throws a failure. */
export function newTransaction({ inputs, outputs, locktime, replaceable }: Outline): Transaction {
  if (locktime < 0 || locktime > 0xffffffff)
    throw new RpcFailure(CODE.PARAMETER, 'Invalid parameter, locktime out of range')
  return {
    version: 2,
    inputs: inputs.map(({ txid, vout, sequence }) => {
      if (vout < 0) throw new RpcFailure(CODE.PARAMETER, 'Invalid parameter, vout cannot be negative')
      const hash = fromDisplayed(hashOf(txid, 'txid'))
      return {
        hash,
        index: vout,
        script: EMPTY,
        sequence: sequenceOf(sequence, locktime, replaceable),
        witness: [],
      }
    }),
    outputs: outputsOf(outputs),
    lockTime: locktime,
  }
}
