/** Peg-ins that go back: a transaction of the parent chain that spends all their outputs. */
import { type Destination, outputScript } from '../../../../bitcoin/output-script.ts'
import { parseScript } from '../../../../bitcoin/script.ts'
import { equal } from '../../../../encoding/bytes.ts'
import type { Hex } from '../../../../encoding/hex.ts'
import type { FederationFormat } from '../constants/network.ts'
import type { BridgeCall } from '../method.ts'
import { addWaiting, announce } from '../pegout/settlement.ts'
import { sweep } from '../pegout/sweep.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import { feePerKb } from '../votes/settings.ts'
import { creationHash } from './creation-hash.ts'
import type { ParentTransaction } from './parent-transaction.ts'
import { type Payee, paymentsTo } from './payments.ts'
import { spendable } from './received-outputs.ts'

/** Whom the peg-in has paid, and how its outputs to them are spent. */
export interface RefundPayee extends Payee {
  readonly redeemScript: Uint8Array
  readonly format: FederationFormat
}

/** A refund. */
export interface Refund {
  readonly transaction: ParentTransaction
  readonly payees: readonly RefundPayee[]
  readonly to: Destination
  /** Satoshi that the events name. */
  readonly amount: bigint
  /** Hash of the transaction of this chain that makes it. */
  readonly creationHash: Hex
}

/** The first payee that an output pays to. Throws a RangeError for an output before it that ends within a push. */
function firstPaid({ outputs }: ParentTransaction, payees: readonly RefundPayee[]): RefundPayee {
  for (const payee of payees) {
    for (const { script } of outputs) {
      parseScript(script)
      if (equal(script, payee.outputScript)) return payee
    }
  }
  throw new RangeError('no output to a federation')
}

function redeemScriptFor({ script }: SpendableOutput, payees: readonly RefundPayee[]): Uint8Array {
  const payee = payees.find(({ outputScript }) => equal(outputScript, script))
  if (payee === undefined) throw new RangeError('an output to no federation')
  return payee.redeemScript
}

/** Adds the transaction to those that wait for confirmations. Nothing comes of outputs that do not pay their own fee. */
export function refund(call: BridgeCall, { transaction, payees, to, amount, creationHash }: Refund): void {
  const outputs = spendable(transaction, paymentsTo(transaction, ...payees))
  const { format } = firstPaid(transaction, payees)
  const release = sweep(
    outputs.map((output) => ({ output, redeemScript: redeemScriptFor(output, payees) })),
    outputScript(to),
    { format, feePerKb: feePerKb(call), version: call.isActive('rskip201') ? 2 : 1 },
  )
  if (release === undefined) return
  addWaiting(call, release.transaction, creationHash)
  announce(call, release, { creationHash, amount })
}

/** Refunds what a peg-in has paid to the live federations. */
export function refundPegin(
  call: BridgeCall,
  transaction: ParentTransaction,
  to: Destination,
  amount: bigint,
): void {
  const payees = call.federations.live()
  refund(call, { transaction, payees, to, amount, creationHash: creationHash(call.env) })
}
