/** What becomes of a peg-in: it is registered, goes back, or is lost (RSKIP-379). */
import { type Destination, destinationOf } from '../../../../bitcoin/output-script.ts'
import type { Transaction } from '../../../../bitcoin/transaction.ts'
import { equal } from '../../../../encoding/bytes.ts'
import type { Hex } from '../../../../encoding/hex.ts'
import type { Federation } from '../federation/federation.ts'
import { instructionsOf, type PeginInstructions } from './instructions.ts'
import { paymentsTo } from './payments.ts'
import { type Sender, senderOf } from './sender.ts'

/** Why a peg-in is rejected, as the event has it (RSKIP-181). */
export const REJECTED = {
  capSurpassed: 1n,
  multisigSender: 2n,
  unknownSender: 3n,
  malformedInstructions: 4n,
  amount: 5n,
} as const

/** Why a rejected peg-in does not go back, as the event has it (RSKIP-181). */
export const UNREFUNDABLE = {
  unknownSender: 1n,
  noRefundAddress: 2n,
  amount: 3n,
  differentFederations: 4n,
} as const

/** What happens to a peg-in. */
export type Evaluation =
  | { readonly action: 'register'; readonly receiver: Hex; readonly version: 0 | 1 }
  | { readonly action: 'refund'; readonly reason: bigint; readonly to: Destination }
  | { readonly action: 'keep'; readonly reason: bigint; readonly unrefundable: bigint }

/** A federation as a peg-in is paid to it. */
export type PeginFederation = Pick<Federation, 'format' | 'outputScript' | 'scriptHash'>

/** Are the federations that the outputs name of different formats? Throws a RangeError for an output to neither key nor script. */
function paysDifferentFormats({ outputs }: Transaction, live: readonly PeginFederation[]): boolean {
  const formats = new Set<number>()
  for (const { script } of outputs) {
    const destination = destinationOf(script)
    if (destination === undefined) throw new RangeError('an output of no standard form')
    const federation = live.find(({ scriptHash }) => equal(scriptHash, destination.hash))
    if (federation !== undefined) formats.add(federation.format)
  }
  return formats.size > 1
}

/** Without instructions the coins are for the sender's account. */
function evaluateWithoutInstructions(
  transaction: Transaction,
  sender: Sender | undefined,
  live: readonly PeginFederation[],
): Evaluation {
  if (sender === undefined) {
    return { action: 'keep', reason: REJECTED.unknownSender, unrefundable: UNREFUNDABLE.unknownSender }
  }
  if (sender.account !== undefined) return { action: 'register', receiver: sender.account, version: 0 }
  const reason = REJECTED.multisigSender
  return paysDifferentFormats(transaction, live)
    ? { action: 'keep', reason, unrefundable: UNREFUNDABLE.differentFederations }
    : { action: 'refund', reason, to: sender.refund }
}

function readInstructions(transaction: Transaction): PeginInstructions | 'malformed' | undefined {
  try {
    return instructionsOf(transaction)
  } catch (error) {
    if (error instanceof RangeError) return 'malformed'
    throw error
  }
}

/**
 * What happens to a peg-in to the federations, each output of which must have the least value (satoshi). Throws a RangeError
 * where the reference node fails.
 */
export function evaluatePegin(
  transaction: Transaction,
  live: readonly PeginFederation[],
  minimum: bigint,
): Evaluation {
  const payments = paymentsTo(transaction, ...live)
  if (payments.length === 0 || payments.some(({ value }) => value < minimum)) {
    return { action: 'keep', reason: REJECTED.amount, unrefundable: UNREFUNDABLE.amount }
  }
  const sender = senderOf(transaction)
  const instructions = readInstructions(transaction)
  if (instructions === undefined) return evaluateWithoutInstructions(transaction, sender, live)
  if (instructions !== 'malformed') {
    return { action: 'register', receiver: instructions.receiver, version: 1 }
  }
  const reason = REJECTED.malformedInstructions
  return sender === undefined
    ? { action: 'keep', reason, unrefundable: UNREFUNDABLE.unknownSender }
    : { action: 'refund', reason, to: sender.refund }
}
