/** Signatures within the inputs of releases: what they sign, who has signed, where the next one goes. */
import { revealedScript } from '../../../../bitcoin/redeem-input.ts'
import { parseRedeem, type Redeem } from '../../../../bitcoin/redeem-script-parser.ts'
import { type Chunk, parseScript, push, writeChunks } from '../../../../bitcoin/script.ts'
import { legacySighash, witnessSighash } from '../../../../bitcoin/sighash.ts'
import { decodeDer, encodeForInput, isSignedBy, type Signature } from '../../../../bitcoin/signature.ts'
import type { Input, Transaction } from '../../../../bitcoin/transaction.ts'
import { concat, EMPTY, equal } from '../../../../encoding/bytes.ts'

/** The script of many keys that an input spends. Throws a RangeError when it spends none. */
export function redeemOf(input: Input): Redeem {
  const script = revealedScript(input)
  const redeem = script && parseRedeem(script)
  if (redeem === undefined) throw new RangeError('an input without a script of many keys')
  return redeem
}

/** What a signature of an input signs. `value`: satoshi that it spends, which a witness signs. Throws a RangeError without it. */
export function inputSighash(transaction: Transaction, index: number, value: bigint | undefined): Uint8Array {
  const input = transaction.inputs[index]
  if (input === undefined) throw new RangeError(`the transaction has no input ${index}`)
  const { script } = redeemOf(input)
  if (input.witness.length === 0) return legacySighash(transaction, index, script)
  if (value === undefined) throw new RangeError('the value that an input spends is not known')
  return witnessSighash(transaction, index, script, value)
}

/** The items between the first and the redeem script: signatures, and an empty one for each that is missing. */
function slotsOf({ script, witness }: Input): readonly Uint8Array[] {
  const items = witness.length > 0 ? witness : parseScript(script).map(({ data = EMPTY }) => data)
  return items.slice(1, -1)
}

function withSlots(input: Input, slots: readonly Uint8Array[]): Input {
  const { witness, script } = input
  if (witness.length > 0) {
    return { ...input, witness: [witness[0] ?? EMPTY, ...slots, witness.at(-1) ?? EMPTY] }
  }
  const chunks = parseScript(script)
  const kept = (chunk: Chunk | undefined) => (chunk === undefined ? [] : [chunk])
  const items = concat(...slots.map(push))
  return { ...input, script: concat(writeChunks(kept(chunks[0])), items, writeChunks(kept(chunks.at(-1)))) }
}

/** Whose signature it is, by the key's place in the script; -1 for nobody's. */
function signerOf({ keys }: Redeem, sighash: Uint8Array, signature: Uint8Array): number {
  const decoded = decodeDer(signature)
  return keys.findIndex((key) => isSignedBy(sighash, decoded, key))
}

/** Has the key signed the input? */
export function hasSigned(input: Input, sighash: Uint8Array, key: Uint8Array): boolean {
  return slotsOf(input).some((slot) => slot.length > 0 && isSignedBy(sighash, decodeDer(slot), key))
}

/** Signatures that an input lacks. A branch of emergency keys has one more item, which stays empty. */
export function missingSignatures(input: Input): number {
  const { hasEmergency } = redeemOf(input)
  const slots = slotsOf(input)
  return slots.slice(0, slots.length - (hasEmergency ? 1 : 0)).filter(({ length }) => length === 0).length
}

/**
 * The input with a signature among those that it has, in the order of the keys in the script; `undefined` when the script
 * has not the key. Throws a RangeError when there is no place for it.
 */
export function withSignature(
  input: Input,
  sighash: Uint8Array,
  { key, signature }: { readonly key: Uint8Array; readonly signature: Signature },
): Input | undefined {
  const redeem = redeemOf(input)
  const place = redeem.keys.findIndex((other) => equal(other, key))
  if (place < 0) return undefined
  const slots = slotsOf(input)
  if ((slots.at(-1)?.length ?? 0) > 0) throw new RangeError('the input has all its signatures')
  const present = slots.filter(({ length }) => length > 0)
  const later = present.findIndex((other) => place < signerOf(redeem, sighash, other))
  const at = later < 0 ? present.length : later
  const filled = present.toSpliced(at, 0, encodeForInput(signature))
  return withSlots(input, [...filled, ...Array.from({ length: slots.length - filled.length }, () => EMPTY)])
}
