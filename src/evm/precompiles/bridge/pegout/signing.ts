/** `addSignature`: a member's signatures of a release, one for each input, until there are enough. */
import { hash160 } from '../../../../bitcoin/hash.ts'
import {
  compressedKey,
  decodeDer,
  isLowS,
  isSignedBy,
  type Signature,
} from '../../../../bitcoin/signature.ts'
import { encodeTransaction, type Transaction, txid } from '../../../../bitcoin/transaction.ts'
import { EMPTY, equal } from '../../../../encoding/bytes.ts'
import { type Hex, toHex } from '../../../../encoding/hex.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { logEarlyRelease, logEarlySignature } from '../early-events.ts'
import { logReleaseSigned, logSignature } from '../events.ts'
import type { Federation } from '../federation/federation.ts'
import { keyAddress, type Member } from '../federation/members.ts'
import type { BridgeCall } from '../method.ts'
import { hasSigned, inputSighash, missingSignatures, withSignature } from './input-signatures.ts'
import { displayedTxid } from './settlement.ts'

/** What a member sends. */
interface Submission {
  /** The member's key of the parent chain, as sent. */
  readonly key: Uint8Array
  readonly signatures: readonly Signature[]
  /** Of the transaction of this chain that made the release. */
  readonly creationHash: Hex
}

/** Throws PrecompileFailure or a RangeError for what cannot be read. */
function readSubmission({ args }: BridgeCall): Submission {
  const key = args.bytes(0)
  if (compressedKey(key) === undefined) throw new PrecompileFailure('malformed public key')
  const signatures = args.list(1).map(decodeDer)
  if (signatures.length === 0) throw new PrecompileFailure('no signatures')
  const hash = args.bytes(2)
  if (hash.length !== 32) throw new PrecompileFailure('the hash of a transaction has 32 bytes')
  return { key, signatures, creationHash: toHex(hash) }
}

function memberOf(federation: Federation | undefined, key: Uint8Array): Member | undefined {
  return federation?.members.find(([btc]) => equal(btc, key))
}

/** The hashes that the inputs sign. Throws a RangeError where the value that one spends is not known. */
function sighashesOf({ peg }: BridgeCall, transaction: Transaction): readonly Uint8Array[] {
  const isWitness = transaction.inputs.some(({ witness }) => witness.length > 0)
  const values = isWitness ? peg.outpointValues(txid(transaction)) : undefined
  return transaction.inputs.map((_, i) => inputSighash(transaction, i, values?.[i]))
}

/** The transaction with the signatures, as far as they go; and was any added? */
function signInputs(
  transaction: Transaction,
  sighashes: readonly Uint8Array[],
  { key, signatures }: Submission,
): { readonly transaction: Transaction; readonly isSigned: boolean } {
  const inputs = [...transaction.inputs]
  const made = (isSigned: boolean) => ({ transaction: { ...transaction, inputs }, isSigned })
  let isSigned = false
  for (const [i, input] of transaction.inputs.entries()) {
    const sighash = sighashes[i] ?? EMPTY
    const signature = signatures[i]
    if (signature === undefined || hasSigned(input, sighash, key)) break
    const signed = withSignature(input, sighash, { key, signature })
    if (signed === undefined) return made(false)
    inputs[i] = signed
    isSigned = true
  }
  return made(isSigned)
}

function logMember(
  { env, isActive }: BridgeCall,
  transaction: Transaction,
  [btc, rsk]: Member,
  { key, creationHash }: Submission,
): void {
  if (!isActive('rskip146')) {
    logEarlySignature(env, displayedTxid(transaction), hash160(btc), creationHash)
    return
  }
  const address = keyAddress(isActive('rskip415') ? rsk : btc)
  logSignature(env, [creationHash, address], [key])
}

/** Adds the signatures if all are by the key; the transaction with them. */
function sign(
  call: BridgeCall,
  transaction: Transaction,
  submission: Submission,
  member: Member,
): Transaction {
  const { key, signatures } = submission
  const isEarly = !call.isActive('rskip326')
  if (isEarly) logMember(call, transaction, member, submission)
  const sighashes = sighashesOf(call, transaction)
  const isGood = signatures.every(
    (signature, i) => isSignedBy(sighashes[i] ?? EMPTY, signature, key) && isLowS(signature),
  )
  if (!isGood) return transaction
  const made = signInputs(transaction, sighashes, submission)
  if (made.isSigned && !isEarly) logMember(call, transaction, member, submission)
  return made.transaction
}

/** Logs a transaction that has all its signatures; has it? */
function isComplete(
  { env, isActive }: BridgeCall,
  transaction: Transaction,
  { creationHash }: Submission,
): boolean {
  if (transaction.inputs.some((input) => missingSignatures(input) > 0)) return false
  const bytes = encodeTransaction(transaction)
  if (isActive('rskip146')) logReleaseSigned(env, [creationHash], [bytes])
  else logEarlyRelease(env, displayedTxid(transaction), bytes)
  return true
}

/** The SVP spend transaction is signed by the proposed federation (RSKIP-419). Throws PrecompileFailure for another key. */
function signSvpSpend(call: BridgeCall, submission: Submission): void {
  const { peg, federations } = call
  const spend = peg.svpSpend.get()
  const member = memberOf(federations.proposed(), submission.key)
  if (spend === undefined || member === undefined) {
    throw new PrecompileFailure('the key is of no member of the proposed federation')
  }
  if (spend.transaction.inputs.length !== submission.signatures.length) return
  const transaction = sign(call, spend.transaction, submission, member)
  peg.svpSpend.set(isComplete(call, transaction, submission) ? undefined : { ...spend, transaction })
}

function signRelease(call: BridgeCall, submission: Submission): void {
  const { peg, federations } = call
  const signing = peg.signing.get()
  const release = signing.get(submission.creationHash)
  if (release === undefined || release.inputs.length !== submission.signatures.length) return
  const federation = federations.live().find((live) => memberOf(live, submission.key) !== undefined)
  const member = memberOf(federation, submission.key)
  if (member === undefined) return
  const transaction = sign(call, release, submission, member)
  const next = new Map(signing).set(submission.creationHash, transaction)
  if (isComplete(call, transaction, submission)) next.delete(submission.creationHash)
  peg.signing.set(next)
}

/** The method. */
export function addSignature(call: BridgeCall): Uint8Array {
  const submission = readSubmission(call)
  const isOfSvp =
    call.federations.isValidating() && call.peg.svpSpend.get()?.creationHash === submission.creationHash
  if (isOfSvp) signSvpSpend(call, submission)
  else signRelease(call, submission)
  return EMPTY
}
