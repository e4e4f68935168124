/** The outputs of a transaction of the parent chain that pay to federations. */
import { OP, tryParseScript } from '../../../../bitcoin/script.ts'
import type { Output, Transaction } from '../../../../bitcoin/transaction.ts'
import { equal } from '../../../../encoding/bytes.ts'

/** What a transaction can pay to: a federation, or the script of one that commits to a hash. */
export interface Payee {
  /** Of an output that pays to it. */
  readonly outputScript: Uint8Array
}

/** An output and its position. */
export interface Payment extends Output {
  readonly index: number
}

const KEY_HASH_CHUNKS = 5

/** Does the reference node fail on it? It takes the third operation of what looks like a payment to a key for a push. */
function isFailing(script: Uint8Array): boolean {
  const [first, second, third = 0] = script
  if (first !== OP.DUP || second !== OP.HASH160 || third <= OP.PUSHDATA4) return false
  return tryParseScript(script)?.length === KEY_HASH_CHUNKS
}

/** The outputs that pay to one of these, in order. Throws a RangeError where the reference node fails. */
export function paymentsTo({ outputs }: Transaction, ...payees: readonly Payee[]): Payment[] {
  const payments: Payment[] = []
  for (const [index, output] of outputs.entries()) {
    if (isFailing(output.script)) throw new RangeError('an output that cannot be read')
    if (payees.some(({ outputScript }) => equal(output.script, outputScript)))
      payments.push({ ...output, index })
  }
  return payments
}

/** What they pay together, satoshi. */
export function totalOf(payments: readonly Payment[]): bigint {
  return payments.reduce((sum, { value }) => sum + value, 0n)
}
