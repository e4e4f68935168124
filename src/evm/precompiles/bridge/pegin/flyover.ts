/** Flyover: peg-ins to an address of a federation that commits to a contract, which pays at once (RSKIP-176, RSKIP-293). */
import { decodeAddress } from '../../../../bitcoin/address.ts'
import { type Destination, destinationOf, outputScript } from '../../../../bitcoin/output-script.ts'
import { concat } from '../../../../encoding/bytes.ts'
import { doubleSha256, keccak256 } from '../../../../encoding/hash.ts'
import { fromHex } from '../../../../encoding/hex.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { minimumPegin, WEI_PER_SATOSHI } from '../constants/network.ts'
import { type Federation, flyoverHash, flyoverRedeemScript } from '../federation/federation.ts'
import type { BridgeCall } from '../method.ts'
import { isBelowCap, payOut } from './coins.ts'
import { originHash } from './creation-hash.ts'
import { isProven, type ParentTransaction, readParentTransaction } from './parent-transaction.ts'
import { type Payee, paymentsTo, totalOf } from './payments.ts'
import { addOutputs } from './received-outputs.ts'
import { refund } from './refund.ts'

/** Results that are no amount. */
export const FLYOVER = {
  refundedUser: -100n,
  refundedProvider: -200n,
  notContract: -300n,
  otherCaller: -301n,
  used: -302n,
  notValid: -303n,
  nothingPaid: -304n,
  tooLittle: -305n,
  failed: -900n,
} as const

/** A federation behind a script that commits to the contract. */
interface FlyoverFederation extends Payee {
  readonly federation: Federation
  /** Hash that the output script pays to. */
  readonly scriptHash: Uint8Array
}

/** The arguments: what is committed to, and where refunds go. */
interface Agreement {
  readonly derivationHash: Uint8Array
  readonly user: Destination
  readonly provider: Destination
}

function addressOf(bytes: Uint8Array, { network }: BridgeCall): Destination {
  const address = decodeAddress(bytes, network.parent.addresses)
  if (address === undefined) throw new PrecompileFailure('not an address of the parent chain')
  return address
}

/**
 * What a flyover address commits to: the hash of an agreement, the user's address for a refund, the contract, and the
 * provider's address. Bitcoin's addresses are 21 bytes, with their versions.
 */
export function derivationHashOf(
  agreement: Uint8Array,
  { user, contract, provider }: Record<'user' | 'contract' | 'provider', Uint8Array>,
): Uint8Array {
  return keccak256(concat(agreement, user, contract, provider))
}

/** Throws PrecompileFailure for malformed addresses. */
function agreementOf(call: BridgeCall): Agreement {
  const { args } = call
  const [user, provider] = [args.bytes(4), args.bytes(6)]
  return {
    derivationHash: derivationHashOf(args.bytes(3), { user, contract: fromHex(args.address(5)), provider }),
    user: addressOf(user, call),
    provider: addressOf(provider, call),
  }
}

function flyoverFederations({ federations, isActive }: BridgeCall, hash: Uint8Array): FlyoverFederation[] {
  if (hash.every((byte) => byte === 0)) throw new PrecompileFailure('nothing to commit to')
  const live = isActive('rskip293') ? federations.live() : [federations.active()]
  return live.map((federation) => {
    const scriptHash = flyoverHash(hash, federation)
    return { federation, scriptHash, outputScript: outputScript({ kind: 'scriptHash', hash: scriptHash }) }
  })
}

/** Before RSKIP-293 the reference node fails on an output to neither a key nor a script. */
function checkOutputs({ outputs }: ParentTransaction): void {
  if (outputs.some(({ script }) => destinationOf(script) === undefined)) {
    throw new PrecompileFailure('an output of no standard form')
  }
}

/** The coins go to the contract, and the outputs to what the federations can spend. */
function register(
  call: BridgeCall,
  transaction: ParentTransaction,
  derivationHash: Uint8Array,
  payees: readonly FlyoverFederation[],
): void {
  const { peg, federations, env } = call
  payOut(call, env.caller, totalOf(paymentsTo(transaction, ...payees)))
  peg.setFlyoverUsed(transaction.txid, derivationHash)
  for (const [i, payee] of payees.entries()) {
    // The retiring federation's address is kept only if it received coins.
    if (i > 0 && paymentsTo(transaction, payee).length === 0) continue
    peg.setFlyoverOrigin(payee.scriptHash, { derivationHash, federationHash: payee.federation.scriptHash })
    addOutputs(i === 0 ? federations.activeOutputs() : federations.retiringOutputs(), transaction, payee)
  }
}

/** The outputs go back: to the provider if it has paid already, else to the user. */
function refuse(
  call: BridgeCall,
  transaction: ParentTransaction,
  { derivationHash, user, provider }: Agreement,
  payees: readonly FlyoverFederation[],
): bigint {
  const { args, peg, env } = call
  peg.setFlyoverUsed(transaction.txid, derivationHash)
  const isPaid = args.flag(7)
  refund(call, {
    transaction,
    payees: payees.map(({ federation, outputScript }) => ({
      outputScript,
      format: federation.format,
      redeemScript: flyoverRedeemScript(derivationHash, federation),
    })),
    to: isPaid ? provider : user,
    amount: totalOf(paymentsTo(transaction, ...payees)),
    creationHash: originHash(env),
  })
  return isPaid ? FLYOVER.refundedProvider : FLYOVER.refundedUser
}

function registerProven(call: BridgeCall, agreement: Agreement): bigint {
  const { args, peg, isActive } = call
  const { derivationHash } = agreement
  const transaction = readParentTransaction(args.bytes(0))
  if (peg.isFlyoverUsed(transaction.txid, derivationHash)) return FLYOVER.used
  const payees = flyoverFederations(call, derivationHash)
  if (!isActive('rskip293')) checkOutputs(transaction)
  const payments = paymentsTo(transaction, ...payees)
  const amount = totalOf(payments)
  if (amount === 0n) return FLYOVER.nothingPaid
  const minimum = minimumPegin(isActive)
  if (isActive('rskip293') && payments.some(({ value }) => value < minimum)) return FLYOVER.tooLittle
  if (!isBelowCap(call, amount)) return refuse(call, transaction, agreement, payees)
  register(call, transaction, derivationHash, payees)
  return amount * WEI_PER_SATOSHI
}

/**
 * Pays the contract what was sent to its address: arguments transaction, height, tree, hash of the agreement, user's
 * address, contract, provider's address, has the contract paid. The amount in wei, or a code.
 */
export function registerFlyover(call: BridgeCall): bigint {
  const { args, env, peg } = call
  try {
    const agreement = agreementOf(call)
    if (env.isTop) return FLYOVER.notContract
    if (env.caller !== args.address(5)) return FLYOVER.otherCaller
    const bytes = args.bytes(0)
    if (peg.isFlyoverUsed(doubleSha256(bytes), agreement.derivationHash)) return FLYOVER.used
    if (!isProven(call, bytes, args.index(1), args.bytes(2))) return FLYOVER.notValid
    return registerProven(call, agreement)
  } catch (error) {
    if (error instanceof RangeError || error instanceof PrecompileFailure) return FLYOVER.failed
    throw error
  }
}
