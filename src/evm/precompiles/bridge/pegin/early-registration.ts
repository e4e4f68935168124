/** Peg-ins before RSKIP-379: the sender must be on the whitelist until that is switched off, and the locking cap holds. */
import { formatAddress } from '../../../../bitcoin/address.ts'
import type { Destination } from '../../../../bitcoin/output-script.ts'
import type { Hex } from '../../../../encoding/hex.ts'
import { logLock, logPegin, logRejectedPegin, logUnrefundablePegin, utf8 } from '../events.ts'
import type { BridgeCall } from '../method.ts'
import { useWhitelist } from '../votes/whitelist.ts'
import { isBelowCap, payOut } from './coins.ts'
import { REJECTED, UNREFUNDABLE } from './evaluation.ts'
import { instructionsOf, type PeginInstructions } from './instructions.ts'
import { displayedTxid, type ParentTransaction } from './parent-transaction.ts'
import { amountReceived, markProcessed, registerOutputs } from './received-outputs.ts'
import { refundPegin } from './refund.ts'
import { type Sender, senderOf } from './sender.ts'

/** A peg-in and what it is about. */
interface EarlyPegin {
  readonly transaction: ParentTransaction
  /** Satoshi. */
  readonly amount: bigint
  /** Height of the parent chain. */
  readonly height: number
  readonly sender: Sender | undefined
}

/** Writes the event of a rejection (RSKIP-181). */
function reject({ env, isActive }: BridgeCall, { transaction }: EarlyPegin, reason: bigint): void {
  if (isActive('rskip181')) logRejectedPegin(env, [displayedTxid(transaction)], [reason])
}

/** Refunds to an address, or reports that there is none, and marks the peg-in. */
function giveBack(
  call: BridgeCall,
  { transaction, amount }: EarlyPegin,
  to: Destination | undefined,
  reason: bigint,
): void {
  if (to !== undefined) refundPegin(call, transaction, to, amount)
  else if (call.isActive('rskip181')) logUnrefundablePegin(call.env, [displayedTxid(transaction)], [reason])
  markProcessed(call, transaction)
}

function accept(
  call: BridgeCall,
  { transaction, amount, sender }: EarlyPegin,
  receiver: Hex,
  version: bigint,
): void {
  const { env, network, isActive } = call
  payOut(call, receiver, amount)
  const id = displayedTxid(transaction)
  if (isActive('rskip170')) logPegin(env, [receiver, id], [amount, version])
  else if (isActive('rskip146') && sender !== undefined) {
    const address = formatAddress(sender.refund, network.parent.addresses)
    logLock(env, [receiver], [BigInt(id), utf8(address), amount])
  }
  registerOutputs(call, transaction)
}

/** The account that a sender by one key has; peg-ins by a witness key count since RSKIP-143. */
function lockingAccount({ account, refund }: Sender, { isActive }: BridgeCall): Hex | undefined {
  return refund.kind === 'publicKeyHash' || isActive('rskip143') ? account : undefined
}

function registerOfSender(call: BridgeCall, pegin: EarlyPegin, sender: Sender): void {
  const account = lockingAccount(sender, call)
  const isKnown = sender.refund.kind === 'publicKeyHash' || call.isActive('rskip143')
  if (!isKnown) {
    reject(call, pegin, REJECTED.unknownSender)
    return
  }
  const { amount, height } = pegin
  const isListed = account !== undefined && useWhitelist(call, sender.refund, amount, height)
  if (account !== undefined && isListed && isBelowCap(call, amount)) {
    accept(call, pegin, account, 0n)
    return
  }
  if (account === undefined) reject(call, pegin, REJECTED.multisigSender)
  else if (!isBelowCap(call, amount)) reject(call, pegin, REJECTED.capSurpassed)
  giveBack(call, pegin, sender.refund, UNREFUNDABLE.unknownSender)
}

function registerInstructed(
  call: BridgeCall,
  pegin: EarlyPegin,
  { receiver, refund }: PeginInstructions,
): void {
  if (isBelowCap(call, pegin.amount)) {
    accept(call, pegin, receiver, 1n)
    return
  }
  reject(call, pegin, REJECTED.capSurpassed)
  giveBack(call, pegin, refund ?? pegin.sender?.refund, UNREFUNDABLE.noRefundAddress)
}

function readInstructions(
  { isActive }: BridgeCall,
  { transaction }: EarlyPegin,
): PeginInstructions | 'malformed' | undefined {
  if (!isActive('rskip170')) return undefined
  try {
    return instructionsOf(transaction)
  } catch (error) {
    if (error instanceof RangeError) return 'malformed'
    throw error
  }
}

/** Registers or refunds a peg-in in a block of the parent chain of this height. */
export function registerEarlyPegin(call: BridgeCall, transaction: ParentTransaction, height: number): void {
  const amount = amountReceived(call, transaction)
  const sender = senderOf(transaction)
  const pegin = { transaction, amount, height, sender }
  const instructions = readInstructions(call, pegin)
  if (instructions !== undefined && instructions !== 'malformed') {
    registerInstructed(call, pegin, instructions)
  } else if (instructions === undefined && sender !== undefined) {
    registerOfSender(call, pegin, sender)
  } else if (call.isActive('rskip170')) {
    reject(call, pegin, REJECTED.malformedInstructions)
    giveBack(call, pegin, sender?.refund, UNREFUNDABLE.unknownSender)
  }
}
