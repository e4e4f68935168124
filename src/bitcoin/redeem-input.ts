/** Inputs that spend scripts of many keys: the script that they reveal, and their transaction before it was signed. */
import { baseScript, baseWitness } from './base-input.ts'
import { parseRedeem } from './redeem-script-parser.ts'
import { parseScript, tryParseScript } from './script.ts'
import { legacySighash } from './sighash.ts'
import { hasWitness, type Input, type Transaction, txid } from './transaction.ts'

/** Most signatures that the reference node makes room for in an input's script; a federation needs fewer. */
const MAX_SIGNATURES = 16

/**
 * The last item of the witness or, without one, of the script: what is revealed if the output that is spent pays to a script.
 * `undefined` when it is no script. Throws a RangeError when the input's own script ends within a push.
 */
export function revealedScript({ script, witness }: Input): Uint8Array | undefined {
  const revealed = witness.length > 0 ? witness.at(-1) : parseScript(script).at(-1)?.data
  return revealed !== undefined && tryParseScript(revealed) !== undefined ? revealed : undefined
}

function withoutSignature(input: Input): Input | undefined {
  const script = revealedScript(input)
  const redeem = script && parseRedeem(script)
  if (redeem === undefined || redeem.required > MAX_SIGNATURES) return undefined
  return { ...input, ...(input.witness.length > 0 ? baseWitness(redeem) : baseScript(redeem)) }
}

/**
 * The transaction with an empty place for each signature. `undefined` unless every input spends a script of many keys, with
 * at most 16 signatures. Throws a RangeError where the reference node fails.
 */
export function withoutSignatures(transaction: Transaction): Transaction | undefined {
  const inputs: Input[] = []
  for (const input of transaction.inputs) {
    const unsigned = withoutSignature(input)
    if (unsigned === undefined) return undefined
    inputs.push(unsigned)
  }
  return { ...transaction, inputs }
}

/**
 * The hash by which a transaction of a federation is recognized however it is signed: of the first input, as before BIP-143,
 * with the inputs' places for signatures empty (RSKIP-379). Raw order. `undefined` and throws like `withoutSignatures`.
 */
export function unsignedSighash(transaction: Transaction): Uint8Array | undefined {
  const [first] = transaction.inputs
  const script = first && revealedScript(first)
  const unsigned = script && withoutSignatures(transaction)
  return unsigned && legacySighash(unsigned, 0, script)
}

/**
 * The txid of a transaction before it was signed; with a witness signatures are not part of it (RSKIP-305). Raw order.
 * `undefined` and throws like `withoutSignatures`.
 */
export function unsignedTxid(transaction: Transaction): Uint8Array | undefined {
  const unsigned = hasWitness(transaction) ? transaction : withoutSignatures(transaction)
  return unsigned && txid(unsigned)
}
