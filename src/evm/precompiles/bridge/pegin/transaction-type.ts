/** What a proven transaction of the parent chain is to the Bridge. */

import { parseAddress } from '../../../../bitcoin/address.ts'
import { revealedScript, unsignedSighash, unsignedTxid } from '../../../../bitcoin/redeem-input.ts'
import { parseRedeem } from '../../../../bitcoin/redeem-script-parser.ts'
import { hasWitness } from '../../../../bitcoin/transaction.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { minimumPegin } from '../constants/network.ts'
import type { BridgeState } from '../method.ts'
import { LegacyTyping } from './legacy-type.ts'
import type { ParentTransaction } from './parent-transaction.ts'
import { paymentsTo } from './payments.ts'

/** A peg-in, the change of a peg-out or a migration, a transaction of the validation of a federation (RSKIP-419), or another. */
export type TransactionType = 'pegin' | 'pegout' | 'svpFund' | 'svpSpend' | 'unknown'

/** Before RSKIP-305 the reference node fails to take the signatures from an input that reveals a script of another kind. */
function checkRevealed(transaction: ParentTransaction): void {
  for (const input of transaction.inputs) {
    const script = revealedScript(input)
    if (script === undefined) return
    if (parseRedeem(script) === undefined)
      throw new RangeError('an input that reveals no script of many keys')
  }
}

/** Is it the transaction with this hash without its signatures (raw order)? */
function isOf(
  hash: Uint8Array | undefined,
  transaction: ParentTransaction,
  { isActive }: BridgeState,
): boolean {
  if (hash === undefined) return false
  if (!isActive('rskip305') && !hasWitness(transaction)) checkRevealed(transaction)
  const unsigned = unsignedTxid(transaction)
  return unsigned !== undefined && equal(unsigned, hash)
}

function typeByIndex(state: BridgeState, transaction: ParentTransaction): TransactionType {
  const { peg, federations } = state
  if (isOf(peg.svpFundHash.get(), transaction, state)) return 'svpFund'
  if (isOf(peg.svpSpendHash.get(), transaction, state)) return 'svpSpend'
  const payments = paymentsTo(transaction, ...federations.live())
  const sighash = unsignedSighash(transaction)
  if (sighash !== undefined && peg.isPegoutSighash(sighash)) return 'pegout'
  return payments.length > 0 ? 'pegin' : 'unknown'
}

function typeByScripts(state: BridgeState, transaction: ParentTransaction): TransactionType {
  const { federations, federationCells, network, isActive } = state
  const old = parseAddress(network.oldFederationAddress, network.parent.addresses)
  if (old === undefined) throw new Error(`${network.oldFederationAddress} is no address`)
  const parties = {
    active: federations.active(),
    retiring: federations.retiring(),
    lastRetiredScript: federationCells.lastRetiredScript.get(),
    oldScriptHash: old.subarray(1),
  }
  return new LegacyTyping(transaction, parties, minimumPegin(isActive), isActive).type()
}

/** The type of a transaction in a block of this height. Throws a RangeError where the reference node fails. */
export function typeOf(state: BridgeState, transaction: ParentTransaction, height: number): TransactionType {
  const { network, isActive } = state
  const isIndexed = isActive('rskip379') && height >= network.pegoutIndexHeight
  return isIndexed ? typeByIndex(state, transaction) : typeByScripts(state, transaction)
}
