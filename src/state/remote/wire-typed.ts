/** Typed transactions out of an upstream's answers: what they have beside a legacy one, and their bytes (EIPs 2930, 1559, 4844, 7702). */
import { z } from 'zod'
import type { TypedFields } from '../../chain/transaction-bytes.ts'
import { TYPE } from '../../chain/transaction-types.ts'
import { parityBytes, typedBytes, typedFields, typedItems } from '../../chain/typed-transaction.ts'
import { fromBigInt } from '../../encoding/bytes.ts'
import type { RlpItem } from '../../encoding/rlp.ts'
import { Address, Hash, Quantity, type WireTransaction } from './wire.ts'

const AccessListAnswer = z.array(z.looseObject({ address: Address, storageKeys: z.array(Hash) }))
const Authorizations = z.array(
  z.looseObject({
    chainId: Quantity,
    address: Address,
    nonce: Quantity,
    yParity: Quantity,
    r: Quantity,
    s: Quantity,
  }),
)
/** What typed transactions have beside the members of all. */
const TypedAnswer = z.looseObject({
  chainId: Quantity,
  accessList: AccessListAnswer.optional(),
  maxPriorityFeePerGas: Quantity.nullish(),
  authorizationList: Authorizations.optional(),
  maxFeePerBlobGas: Quantity.nullish(),
  blobVersionedHashes: z.array(Hash).nullish(),
})

/** The typed part of an answer; `undefined` where members are missing. */
export function typedPart(fields: WireTransaction): (TypedFields & { readonly chainId: number }) | undefined {
  const { data } = TypedAnswer.safeParse(fields)
  if (data === undefined) return undefined
  const { accessList, maxFeePerBlobGas, blobVersionedHashes: versionedHashes } = data
  const typed = typedFields({
    accessList,
    maxFeePerGas: fields.maxFeePerGas,
    maxPriorityFeePerGas: data.maxPriorityFeePerGas ?? undefined,
    authorizations: data.authorizationList?.map((tuple) => ({ ...tuple, yParity: Number(tuple.yParity) })),
  })
  const hasBlobs = isGiven(maxFeePerBlobGas) && isGiven(versionedHashes)
  return {
    ...typed,
    ...(hasBlobs && { blobs: { maxFeePerBlobGas, versionedHashes } }),
    chainId: Number(data.chainId),
  }
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}

/** Type of transactions with blobs (EIP-4844). */
const BLOBS = 3n

/** The members of a type that an answer has to have: without one its bytes are not known. */
function isWhole(type: bigint, fields: WireTransaction, typed: TypedFields): boolean {
  if (fields.accessList === undefined) return false
  if (type === BigInt(TYPE.accessList)) return fields.gasPrice !== undefined
  if (typed.maxFeePerGas === undefined || typed.maxPriorityFeePerGas === undefined) return false
  if (type === BigInt(TYPE.feeMarket)) return true
  return type === BLOBS
    ? typed.blobs !== undefined
    : type === BigInt(TYPE.setCode) && typed.authorizations !== undefined
}

/** What is signed of a typed transaction; `undefined` for a type that is not known, and where members are missing. */
export function signedTypedItems(fields: WireTransaction): RlpItem[] | undefined {
  const { type, nonce, gas, gasPrice = 0n, to, value, input } = fields
  const typed = typedPart(fields)
  if (typed === undefined || !isWhole(type, fields, typed)) return undefined
  const amounts = { nonce, gasPrice, gasLimit: gas, value, chainId: typed.chainId }
  return typedItems({ type: Number(type), ...amounts, to, data: input, typed })
}

/** The bytes of a typed transaction; `undefined` as `signedTypedItems`. */
export function typedEncoding(fields: WireTransaction): Uint8Array | undefined {
  const { type, v, r, s } = fields
  const items = signedTypedItems(fields)
  const signature = [parityBytes(v === 1n ? 1 : 0), fromBigInt(r), fromBigInt(s)]
  return items && typedBytes(Number(type), [...items, ...signature])
}
