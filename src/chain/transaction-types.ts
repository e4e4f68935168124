/**
 * Types of transactions and the prefixes that state them (EIP-2718, RSKIP-543). A type is a number: 0 for a legacy
 * transaction, which has no prefix, the byte of its prefix for Ethereum's types, and `NAMESPACE` plus the second byte for
 * those of this chain's own namespace, whose prefix is 02 and a byte below 0x80.
 */
import { EMPTY, oneByte } from '../encoding/bytes.ts'
import { invalidParams, type NodeError } from '../errors.ts'
import type { IsActive } from './activations.ts'

/** The types of Ethereum that this chain's drafts take up. */
export const TYPE = { legacy: 0, accessList: 1, feeMarket: 2, setCode: 4 } as const

/** Added to the second byte of the prefix 02xx. */
export const NAMESPACE = 0x200

/** Prefixes end below this byte: above begin RLP's strings and lists. */
const PREFIXES_END = 0x80
const RESERVED = 0xff
const BLOBS = 3

/** Is a type one of the chain's own namespace? */
export function isNamespaced(type: number): boolean {
  return type >= NAMESPACE
}

/** Do these bytes of a transaction, or of its receipt, begin with the prefix of a type? */
export function beginsTyped(bytes: Uint8Array): boolean {
  return (bytes[0] ?? PREFIXES_END) < PREFIXES_END
}

/** The bytes before the payload of a type: none for a legacy transaction. */
export function typePrefix(type: number): Uint8Array {
  if (type === TYPE.legacy) return EMPTY
  return isNamespaced(type) ? Uint8Array.of(TYPE.feeMarket, type - NAMESPACE) : oneByte(type)
}

/** Bytes of `typePrefix`. */
export function prefixLength(type: number): number {
  return type === TYPE.legacy ? 0 : isNamespaced(type) ? 2 : 1
}

/** A type in JSON: `0x2`; the whole prefix for one of the namespace, `0x0203`. */
export function typeText(type: number): `0x${string}` {
  return isNamespaced(type) ? `0x0${type.toString(16)}` : `0x${type.toString(16)}`
}

/** What the reference node calls its types. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'RSKIP546 (EIP-2930)',
  2: 'RSKIP546 (EIP-1559)',
  3: 'RSKIP558 (EIP-4844)',
  4: 'RSKIP545 (EIP-7702)',
}

/** The name of a type in the reference node's messages. */
export function typeName(type: number): string {
  return NAMES[type] ?? 'Legacy'
}

/** The type of a refused transaction in the reference node's messages. */
function typeInWords(type: number): string {
  if (!isNamespaced(type)) return `StandardTyped[${typeName(type)}]`
  return `RskNamespace[subtype=0x${(type - NAMESPACE).toString(16).padStart(2, '0')}]`
}

/** `invalid-params` for bytes that are no transaction, in the reference node's words. */
export function invalidTransaction(reason: string): NodeError {
  return invalidParams(`Invalid transaction: ${reason}`)
}

const twoDigits = (byte: number) => `0x${byte.toString(16).padStart(2, '0')}`

/** The type that the bytes of a transaction begin with. Throws `invalid-params` for one that does not exist. */
export function readType(bytes: Uint8Array): number {
  const [first = RESERVED, second = RESERVED] = bytes
  if (first === RESERVED) {
    throw invalidTransaction('Transaction type 0xff is reserved per EIP-2718 and cannot be used')
  }
  if (first >= PREFIXES_END) return TYPE.legacy
  if (first === TYPE.feeMarket && second < PREFIXES_END) return NAMESPACE + second
  if (first === BLOBS) throw invalidTransaction(`Unsupported transaction type: ${typeInWords(BLOBS)}`)
  if (NAMES[first] === undefined) {
    throw invalidTransaction(`transaction type not supported: ${twoDigits(first)}`)
  }
  return first
}

/** Which types blocks take. */
export interface TypeRules {
  /** RSKIP-543: any but the legacy one. */
  readonly typed: boolean
  /** RSKIP-546: types 1 and 2, and those of the namespace. */
  readonly accessLists: boolean
  /** RSKIP-545: type 4. */
  readonly setCode: boolean
}

/** Before RSKIP-543. */
export const LEGACY_ONLY: TypeRules = { typed: false, accessLists: false, setCode: false }

/** Which types the drafts allow. */
export function typeRules(isActive: IsActive): TypeRules {
  return { typed: isActive('rskip543'), accessLists: isActive('rskip546'), setCode: isActive('rskip545') }
}

/** Runs a transaction whose type this chain's rules do not take as a legacy one: only a fork's upstream has such blocks. */
export function asRunnable<T extends { readonly type: number; readonly typed: unknown }>(
  transaction: T,
  rules: TypeRules,
): T {
  if (typeRefusal(transaction.type, rules) === undefined) return transaction
  return { ...transaction, type: TYPE.legacy, typed: undefined }
}

/** Why a block cannot have a transaction of a type; `undefined` where it can. */
export function typeRefusal(type: number, rules: TypeRules): string | undefined {
  if (type === TYPE.legacy) return undefined
  if (rules.typed && (type === TYPE.setCode ? rules.setCode : rules.accessLists)) return undefined
  return `transaction type ${typeInWords(type)} is not supported before its activation`
}
