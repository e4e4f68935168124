/** Scripts of outputs: to a public key hash, to a script hash, to a witness program behind a script hash. */
import { concat } from '../encoding/bytes.ts'
import { sha256 } from '../encoding/hash.ts'
import { hash160 } from './hash.ts'
import { OP, parseScript, push } from './script.ts'

/** What an output pays to: the hash of a public key or of a script, 20 bytes. */
export interface Destination {
  readonly kind: 'publicKeyHash' | 'scriptHash'
  readonly hash: Uint8Array
}

/** Bytes of `Destination.hash`. */
export const DESTINATION_BYTES = 20

/** The script of an output that pays to a destination. */
export function outputScript({ kind, hash }: Destination): Uint8Array {
  return kind === 'scriptHash'
    ? concat(Uint8Array.of(OP.HASH160), push(hash), Uint8Array.of(OP.EQUAL))
    : concat(Uint8Array.of(OP.DUP, OP.HASH160), push(hash), Uint8Array.of(OP.EQUALVERIFY, OP.CHECKSIG))
}

/** Is it exactly a payment to a script hash (BIP-16)? */
export function isPayToScriptHash(script: Uint8Array): boolean {
  const isWhole = script.length === 23 && script[1] === DESTINATION_BYTES
  return isWhole && script[0] === OP.HASH160 && script[22] === OP.EQUAL
}

/** The hash in a script that pays to a script hash. */
export function scriptHashOf(script: Uint8Array): Uint8Array {
  return script.slice(2, 2 + DESTINATION_BYTES)
}

/** What a script pays to; `undefined` for every other script. Throws a RangeError when it ends within a push. */
export function destinationOf(script: Uint8Array): Destination | undefined {
  const chunks = parseScript(script)
  if (isPayToScriptHash(script)) return { kind: 'scriptHash', hash: scriptHashOf(script) }
  const [dup, hash, key, verify, check] = chunks
  const isToKey =
    chunks.length === 5 &&
    dup?.opcode === OP.DUP &&
    hash?.opcode === OP.HASH160 &&
    verify?.opcode === OP.EQUALVERIFY &&
    check?.opcode === OP.CHECKSIG
  if (!isToKey || key?.data?.length !== DESTINATION_BYTES) return undefined
  return { kind: 'publicKeyHash', hash: key.data }
}

/** Pays to the hash of a public key. */
export function toPublicKey(publicKey: Uint8Array): Destination {
  return { kind: 'publicKeyHash', hash: hash160(publicKey) }
}

/** Pays to the hash of a script (BIP-16). */
export function toScript(script: Uint8Array): Destination {
  return { kind: 'scriptHash', hash: hash160(script) }
}

/** The witness program of a script (BIP-141): version 0 and its SHA-256. */
export function witnessScriptProgram(script: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(OP[0]), push(sha256(script)))
}

/** Pays to the hash of the witness program of a script (BIP-141). */
export function toWitnessScript(script: Uint8Array): Destination {
  return toScript(witnessScriptProgram(script))
}

/** Pays to the hash of the witness program of a public key (BIP-141). */
export function toWitnessKey(publicKey: Uint8Array): Destination {
  return toScript(concat(Uint8Array.of(OP[0]), push(hash160(publicKey))))
}
