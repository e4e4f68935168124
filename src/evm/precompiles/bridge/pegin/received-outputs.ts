/** What transactions of the parent chain pay to the federations. */
import { isCoinbase } from '../../../../bitcoin/transaction.ts'
import type { BridgeCall, BridgeState } from '../method.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import type { Cell } from '../storage/store.ts'
import type { ParentTransaction } from './parent-transaction.ts'
import { type Payee, type Payment, paymentsTo, totalOf } from './payments.ts'

/** Payments as a federation can spend them. */
export function spendable(
  transaction: ParentTransaction,
  payments: readonly Payment[],
): readonly SpendableOutput[] {
  const { txid } = transaction
  const origin = { hash: txid, height: 0, isCoinbase: isCoinbase(transaction) }
  return payments.map(({ index, value, script }) => ({ ...origin, index, value, script }))
}

/** Adds what is paid to one of these to the outputs that a federation can spend. */
export function addOutputs(
  outputs: Cell<readonly SpendableOutput[]> | undefined,
  transaction: ParentTransaction,
  payee: Payee,
): void {
  outputs?.set([...outputs.get(), ...spendable(transaction, paymentsTo(transaction, payee))])
}

/** Satoshi that a transaction pays to the live federations, for each by itself. Their lists of outputs are read, too. */
export function amountReceived({ federations }: BridgeState, transaction: ParentTransaction): bigint {
  federations.activeOutputs().get()
  federations.retiringOutputs()?.get()
  return federations.live().reduce((sum, payee) => sum + totalOf(paymentsTo(transaction, payee)), 0n)
}

/** Adds what a transaction pays to the live federations to what each can spend. */
export function addReceivedOutputs({ federations }: BridgeState, transaction: ParentTransaction): void {
  addOutputs(federations.activeOutputs(), transaction, federations.active())
  const retiring = federations.retiring()
  if (retiring !== undefined) addOutputs(federations.retiringOutputs(), transaction, retiring)
}

/** A transaction that is marked is not looked at again. */
export function markProcessed({ peg, env }: BridgeCall, { txid }: ParentTransaction): void {
  peg.setProcessed(txid, env.number)
}

/** Adds its outputs, and marks it. */
export function registerOutputs(call: BridgeCall, transaction: ParentTransaction): void {
  addReceivedOutputs(call, transaction)
  markProcessed(call, transaction)
}
