/** Of which transactions the members tell the Bridge. */
import { revealedScript } from '../bitcoin/redeem-input.ts'
import type { Transaction } from '../bitcoin/transaction.ts'
import { equal } from '../encoding/bytes.ts'
import { minimumPegin } from '../evm/precompiles/bridge/constants/network.ts'
import type { Federation } from '../evm/precompiles/bridge/federation/federation.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import { type Evaluation, evaluatePegin, UNREFUNDABLE } from '../evm/precompiles/bridge/pegin/evaluation.ts'
import { paymentsTo, totalOf } from '../evm/precompiles/bridge/pegin/payments.ts'
import { lossReason } from './bridge-logs.ts'

/** The active, the retiring and the proposed federation, as far as there are such. */
export function known(federations: BridgeState['federations']): readonly Federation[] {
  const proposed = federations.proposed()
  return proposed === undefined ? federations.live() : [...federations.live(), proposed]
}

/** Does an input spend coins of one of the federations? A flyover's script ends in that of its federation. */
export function spendsFrom({ inputs }: Transaction, federations: readonly Federation[]): boolean {
  return inputs.some((input) => {
    const script = revealedScript(input)
    if (script === undefined) return false
    return federations.some(({ redeemScript }) => equal(script.subarray(-redeemScript.length), redeemScript))
  })
}

/** Satoshi that a transaction pays to live federations; 0 where the reference node cannot read its outputs. */
export function paidToFederations(transaction: Transaction, { federations }: BridgeState): bigint {
  try {
    return totalOf(paymentsTo(transaction, ...federations.live()))
  } catch (error) {
    if (error instanceof RangeError) return 0n
    throw error
  }
}

function evaluationOf(
  transaction: Transaction,
  { federations, isActive }: BridgeState,
): Evaluation | undefined {
  try {
    return evaluatePegin(transaction, federations.live(), minimumPegin(isActive))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Why the members do not tell the Bridge of a peg-in, in words: it would neither be registered nor go back, such as one
 * below the minimum, or of a sender that the Bridge cannot determine (`PegUtils.isValidPegInTx` of the reference node of
 * the federation). `undefined` where they tell.
 */
export function refusalOf(transaction: Transaction, bridge: BridgeState): string | undefined {
  const evaluation = evaluationOf(transaction, bridge)
  const isKept = evaluation?.action === 'keep'
  if (!isKept || evaluation.unrefundable === UNREFUNDABLE.differentFederations) return undefined
  return lossReason(evaluation.reason, evaluation.unrefundable)
}

/** Do the members tell the Bridge of a transaction that pays to a federation? */
export function isRelevant(transaction: Transaction, bridge: BridgeState): boolean {
  return spendsFrom(transaction, known(bridge.federations)) || refusalOf(transaction, bridge) === undefined
}
