/** Registers proven transactions of the parent chain: peg-ins, change and migrations, and the validation of a federation. */
import { doubleSha256 } from '../../../../encoding/hash.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { minimumPegin } from '../constants/network.ts'
import { logPegin, logRejectedPegin, logUnrefundablePegin } from '../events.ts'
import { handOver } from '../federation/commitment.ts'
import type { BridgeCall } from '../method.ts'
import { payOut } from './coins.ts'
import { registerEarlyPegin } from './early-registration.ts'
import { type Evaluation, evaluatePegin } from './evaluation.ts'
import {
  displayedTxid,
  isProven,
  type ParentTransaction,
  readParentTransaction,
} from './parent-transaction.ts'
import { amountReceived, markProcessed, registerOutputs } from './received-outputs.ts'
import { refundPegin } from './refund.ts'
import { type TransactionType, typeOf } from './transaction-type.ts'

/** Between these rules a peg-in that is kept counts as processed. */
function marksKept({ isActive }: BridgeCall): boolean {
  return isActive('rskip459') && !isActive('rskip551')
}

function keep(
  call: BridgeCall,
  transaction: ParentTransaction,
  { reason, unrefundable }: Extract<Evaluation, { action: 'keep' }>,
): void {
  const { env } = call
  const id = displayedTxid(transaction)
  logRejectedPegin(env, [id], [reason])
  logUnrefundablePegin(env, [id], [unrefundable])
  if (marksKept(call)) markProcessed(call, transaction)
}

function registerPegin(call: BridgeCall, transaction: ParentTransaction): void {
  const { env, federations, isActive } = call
  if (!isActive('rskip379')) {
    registerEarlyPegin(call, transaction, call.args.index(1))
    return
  }
  const amount = amountReceived(call, transaction)
  const evaluation = evaluatePegin(transaction, federations.live(), minimumPegin(isActive))
  if (evaluation.action === 'keep') keep(call, transaction, evaluation)
  else if (evaluation.action === 'refund') {
    logRejectedPegin(env, [displayedTxid(transaction)], [evaluation.reason])
    refundPegin(call, transaction, evaluation.to, amount)
    markProcessed(call, transaction)
  } else {
    payOut(call, evaluation.receiver, amount)
    logPegin(env, [evaluation.receiver, displayedTxid(transaction)], [amount, BigInt(evaluation.version)])
    registerOutputs(call, transaction)
  }
}

/** The fund transaction of a validation is kept while that lasts, to be spent (RSKIP-419). */
function registerSvpFund(call: BridgeCall, transaction: ParentTransaction): void {
  registerOutputs(call, transaction)
  if (!call.federations.isValidating()) return
  call.peg.svpFund.set(transaction)
  call.peg.svpFundHash.set(undefined)
}

/** The spend transaction proves that the proposed federation can spend (RSKIP-419). */
function registerSvpSpend(call: BridgeCall, transaction: ParentTransaction): void {
  registerOutputs(call, transaction)
  const { peg, federationCells } = call
  peg.svpSpendHash.set(undefined)
  const proposed = federationCells.proposed.get()
  if (proposed === undefined) throw new PrecompileFailure('no federation is proposed')
  handOver(call, proposed)
  federationCells.proposed.set(undefined)
}

const REGISTERING: Readonly<
  Record<TransactionType, (call: BridgeCall, transaction: ParentTransaction) => void>
> = {
  pegin: registerPegin,
  pegout: registerOutputs,
  svpFund: registerSvpFund,
  svpSpend: registerSvpSpend,
  unknown: () => {},
}

/**
 * Registers a transaction, once: arguments transaction, height, tree. Nothing happens without enough confirmations or with
 * another proof. Throws PrecompileFailure, or a RangeError for malformed data.
 */
export function registerTransaction(call: BridgeCall): void {
  const { args, peg } = call
  const bytes = args.bytes(0)
  const height = args.index(1)
  if (peg.processedHeight(doubleSha256(bytes)) !== undefined) return
  if (!isProven(call, bytes, height, args.bytes(2))) return
  const transaction = readParentTransaction(bytes)
  if (peg.processedHeight(transaction.txid) !== undefined) return
  REGISTERING[typeOf(call, transaction, height)](call, transaction)
}
