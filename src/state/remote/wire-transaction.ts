/** Transactions out of an upstream's answers: their bytes are rebuilt from the fields, and have to hash to the hash of the answer. */
import type { ChainConfig } from '../../chain/config.ts'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import {
  decodeBlockTransaction,
  impersonatedSender,
  remascTransaction,
  restoreTransaction,
  type Transaction,
} from '../../chain/transaction.ts'
import { smallBytes, type TypedFields } from '../../chain/transaction-bytes.ts'
import { isNamespaced, typePrefix } from '../../chain/transaction-types.ts'
import { signedItems, typedFields } from '../../chain/typed-transaction.ts'
import { concat, EMPTY, fromBigInt, oneByte } from '../../encoding/bytes.ts'
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex } from '../../encoding/hex.ts'
import { frameStrings } from '../../encoding/rlp-frame.ts'
import type { WireTransaction } from './wire.ts'
import { typedEncoding, typedPart } from './wire-typed.ts'

/** The values of V that the fields can stand for: older nodes leave the chain id out of it. */
function possibleV({ v }: WireTransaction, chainId: number): Uint8Array[] {
  const value = Number(v)
  const plain = value === 0 || value === 1 ? value : value - 27
  const candidates = plain === 0 || plain === 1 ? [27 + plain, 35 + 2 * chainId + plain] : [value]
  return candidates.map(smallBytes)
}

/** The encodings that the fields can stand for. */
function* encodings(fields: WireTransaction, chainId: number): Generator<Uint8Array> {
  const type = Number(fields.type)
  if (isNamespaced(type)) {
    for (const list of legacyEncodings(fields, chainId)) yield concat(typePrefix(type), list)
  } else if (signedItems(type) > 0) {
    const typed = typedEncoding(fields)
    if (typed !== undefined) yield typed
  } else yield* legacyEncodings(fields, chainId)
}

function* legacyEncodings(fields: WireTransaction, chainId: number): Generator<Uint8Array> {
  const { nonce, gasPrice = 0n, gas, to, value, input, r, s } = fields
  const prices = gasPrice === 0n ? [oneByte(0), EMPTY] : [fromBigInt(gasPrice)]
  const limits = gas === 0n ? [oneByte(0)] : [fromBigInt(gas)]
  for (const v of possibleV(fields, chainId)) {
    for (const price of prices) {
      for (const limit of limits) {
        yield frameStrings([
          fromBigInt(nonce),
          price,
          limit,
          to === null ? EMPTY : fromHex(to),
          fromBigInt(value),
          input,
          v,
          fromBigInt(r),
          fromBigInt(s),
        ])
      }
    }
  }
}

function isRemasc({ to, gas, gasPrice, value, r, s }: WireTransaction): boolean {
  return (
    to === PRECOMPILE_ADDRESS.remasc &&
    gas === 0n &&
    (gasPrice ?? 0n) === 0n &&
    value === 0n &&
    r === 0n &&
    s === 0n
  )
}

/** A signed one with its sender recovered; one that was sent for an impersonated account carries its sender. */
function withSender(raw: Uint8Array, { from }: WireTransaction): Transaction | string {
  try {
    const recovered = decodeBlockTransaction(raw, false)
    if (recovered.from === from) return recovered
  } catch {
    // Judged below: only impersonated ones have no valid signature.
  }
  const impersonated = from === null ? undefined : restoreTransaction(raw, from)
  if (impersonated !== undefined && impersonatedSender(impersonated) === from) return impersonated
  return `is not signed by its sender ${from}`
}

/** The transaction of an upstream of this family; a text is what is wrong. `isLast` in block `height`. */
export function readTransaction(
  fields: WireTransaction,
  {
    height,
    isLast,
    config,
  }: { readonly height: number; readonly isLast: boolean; readonly config: ChainConfig },
): Transaction | string {
  if (isLast && isRemasc(fields)) {
    const remasc = remascTransaction(height)
    if (remasc.hash === fields.hash) return remasc
  }
  for (const raw of encodings(fields, config.chainId)) {
    if (keccakHex(raw) === fields.hash) return withSender(raw, fields)
  }
  return 'has fields that do not hash to its hash'
}

/** The bytes of a transaction of another family's chain; none where its fields do not give those of its hash. */
function foreignBytes(fields: WireTransaction, chainId: number): Uint8Array {
  const typed = typedEncoding(fields)
  const candidates = [...(typed === undefined ? [] : [typed]), ...legacyEncodings(fields, chainId)]
  return candidates.find((bytes) => keccakHex(bytes) === fields.hash) ?? EMPTY
}

/** The typed part of a transaction of another family's chain. */
function foreignPart(fields: WireTransaction): TypedFields | undefined {
  if (fields.type === 0n) return undefined
  const { chainId: _, ...typed } = typedPart(fields) ?? { chainId: 0, ...typedFields({}) }
  return typed
}

/**
 * A transaction of another family's chain: its fields as they are, of whatever type, with the price that it paid. It has
 * bytes where these can be made.
 */
export function foreignTransaction(
  fields: WireTransaction,
  chainId: number,
  paid?: bigint,
): Transaction | string {
  const { hash, nonce, from, to, gas, gasPrice, maxFeePerGas, value, input, v, r, s, type } = fields
  if (from === null) return 'has no sender'
  return {
    hash,
    from,
    nonce,
    gasPrice: paid ?? gasPrice ?? maxFeePerGas ?? 0n,
    gasLimit: gas,
    to,
    value,
    data: input,
    v: Number(v),
    r,
    s,
    chainId,
    raw: foreignBytes(fields, chainId),
    type: Number(type),
    typed: foreignPart(fields),
    isRemasc: false,
  }
}
