/** Transactions of federations before they are signed: every input has a place for each signature. */
import { baseScript, baseWitness } from '../../../../bitcoin/base-input.ts'
import { encodeTransaction, type Output, type Transaction } from '../../../../bitcoin/transaction.ts'
import { type FederationFormat, FORMAT } from '../constants/network.ts'
import type { Spent } from './fees.ts'

/** Largest transaction that the parent chain's nodes relay. */
const MAX_BYTES = 100_000

/** A transaction whose inputs have no scripts yet. */
export function draftOf(version: number, spent: readonly Spent[], outputs: readonly Output[]): Transaction {
  return { version, inputs: spent.map(({ input }) => input), outputs, lockTime: 0 }
}

/** The transaction with a place for each signature; `undefined` when it is too large to be relayed. */
export function unsignedRelease(
  draft: Transaction,
  spent: readonly Spent[],
  format: FederationFormat,
): Transaction | undefined {
  const isWitness = format === FORMAT.witness
  const unlock = isWitness ? baseWitness : baseScript
  const transaction = {
    ...draft,
    inputs: spent.map(({ input, redeem }) => ({ ...input, ...unlock(redeem) })),
  }
  // The limit is checked with the scripts of inputs, but without witnesses, which are added later.
  const { length } = encodeTransaction(isWitness ? draft : transaction)
  return length > MAX_BYTES ? undefined : transaction
}
