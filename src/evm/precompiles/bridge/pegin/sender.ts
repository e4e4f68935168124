/**
 * Who has sent a peg-in, by its first input: the owner of a key, whose account on this chain has the same key, or of a script
 * of many keys. A RangeError is thrown where the reference node fails, which makes the whole call fail.
 */
import {
  type Destination,
  toPublicKey,
  toScript,
  toWitnessKey,
  toWitnessScript,
} from '../../../../bitcoin/output-script.ts'
import { decodePublicKey, type PublicKey } from '../../../../bitcoin/public-key.ts'
import { parseRedeem } from '../../../../bitcoin/redeem-script-parser.ts'
import { type Chunk, parseScript } from '../../../../bitcoin/script.ts'
import type { Input, Transaction } from '../../../../bitcoin/transaction.ts'
import { keccak256 } from '../../../../encoding/hash.ts'
import { type Hex, toHex } from '../../../../encoding/hex.ts'

/** The sender of a peg-in. */
export interface Sender {
  /** Where a refund goes. */
  readonly refund: Destination
  /** The account of the key; `undefined` when many keys have sent. */
  readonly account: Hex | undefined
}

/** Items of an input by one key: a signature, the key. */
const KEY_ITEMS = 2
/** Least items of an input that spends a script of many keys: an empty one, a signature, the script. */
const MULTISIG_ITEMS = 3

function accountOf({ point }: PublicKey): Hex {
  return toHex(keccak256(point).subarray(12))
}

function byKey(chunks: readonly Chunk[]): Sender | undefined {
  const key = chunks.length === KEY_ITEMS ? chunks[1]?.data : undefined
  const publicKey = key && decodePublicKey(key)
  return publicKey && { refund: toPublicKey(publicKey.bytes), account: accountOf(publicKey) }
}

function byWitnessKey(witness: readonly Uint8Array[]): Sender | undefined {
  const bytes = witness.length === KEY_ITEMS ? witness[1] : undefined
  if (bytes === undefined) return undefined
  const publicKey = decodePublicKey(bytes)
  if (publicKey === undefined) throw new RangeError('a witness whose second item is no public key')
  return publicKey.isCompressed
    ? { refund: toWitnessKey(publicKey.bytes), account: accountOf(publicKey) }
    : undefined
}

function byScript(
  items: readonly (Uint8Array | undefined)[],
  destination: (script: Uint8Array) => Destination,
): Sender | undefined {
  if (items.length < MULTISIG_ITEMS) return undefined
  const script = items.at(-1)
  if (script === undefined) throw new RangeError('an input whose script does not end in a push')
  parseScript(script)
  return parseRedeem(script) && { refund: destination(script), account: undefined }
}

/** By the input's script: by one key, a witness behind a script hash, or many keys. */
function senderOfInput({ script, witness }: Input): Sender | undefined {
  const chunks = parseScript(script)
  const isNested = chunks.length === 1
  return (
    byKey(chunks) ??
    (isNested ? byWitnessKey(witness) : undefined) ??
    byScript(
      chunks.map(({ data }) => data),
      toScript,
    ) ??
    (isNested ? byScript(witness, toWitnessScript) : undefined)
  )
}

/** The sender; `undefined` where the reference node does not know one, such as that of a native witness program. */
export function senderOf({ inputs }: Transaction): Sender | undefined {
  const [first] = inputs
  return first && senderOfInput(first)
}
