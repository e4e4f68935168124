/**
 * Typed transactions (EIP-2718, EIP-2930, EIP-1559, EIP-7702; RSKIP-543, 545, 546): their bytes. Own code: `@ethereumjs/tx`
 * has other refusals, recovers a sender in 2.9 ms instead of 0.15, and adds a second to every start, since an installation
 * has it outside the bundle. Tests compare the two.
 */
import { concat, EMPTY, equal, fromBigInt, oneByte, toBigInt, toNumber } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../encoding/rlp.ts'
import { type AccessList, accessListItems, readAccessList } from './access-list.ts'
import { ADDRESS_BYTES } from './account.ts'
import { type Authorization, authorizationItems, readAuthorizations } from './authorization.ts'
import { type Parsed, parseTransaction, type TypedFields } from './transaction-bytes.ts'
import {
  invalidTransaction,
  isNamespaced,
  prefixLength,
  readType,
  TYPE,
  typeName,
  typePrefix,
} from './transaction-types.ts'

/** Elements of the payload that are signed; the signature has three more. */
const SIGNED_ITEMS: Readonly<Record<number, number>> = {
  [TYPE.accessList]: 8,
  [TYPE.feeMarket]: 9,
  [TYPE.setCode]: 10,
}
const SIGNATURE_ITEMS = 3
const WORD_BYTES = 32
/** Most bytes of a chain id: safe integers. */
const CHAIN_ID_BYTES = 6

/** How many elements of a typed payload are signed. */
export function signedItems(type: number): number {
  return SIGNED_ITEMS[type] ?? 0
}

/** Lists and prices of a typed transaction, in wei per gas. */
export interface FeeFields {
  readonly accessList?: AccessList | undefined
  readonly maxFeePerGas?: bigint | undefined
  readonly maxPriorityFeePerGas?: bigint | undefined
  readonly authorizations?: readonly Authorization[] | undefined
}

/** The typed part of a transaction that is made here. */
export function typedFields({ accessList = [], ...rest }: FeeFields): TypedFields {
  const { maxFeePerGas, maxPriorityFeePerGas, authorizations } = rest
  return { accessList, maxFeePerGas, maxPriorityFeePerGas, authorizations }
}

/** The fields of a typed transaction that are signed. */
export interface TypedParts {
  readonly type: number
  readonly chainId: number
  readonly nonce: bigint
  readonly gasPrice: bigint
  readonly gasLimit: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly typed: TypedFields
}

/** The elements of a payload that are signed; type 3 is one of other chains (EIP-4844). */
export function typedItems({ type, chainId, nonce, gasPrice, typed, ...parts }: TypedParts): RlpItem[] {
  const { gasLimit, to, value, data } = parts
  const { accessList, maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = typed
  const { authorizations = [], blobs } = typed
  const prices = type === TYPE.accessList ? [gasPrice] : [maxPriorityFeePerGas, maxFeePerGas]
  return [
    ...[BigInt(chainId), nonce, ...prices, gasLimit].map(fromBigInt),
    to === null ? EMPTY : fromHex(to),
    fromBigInt(value),
    data,
    accessListItems(accessList),
    ...(type === TYPE.setCode ? [authorizationItems(authorizations)] : []),
    ...(blobs ? [fromBigInt(blobs.maxFeePerBlobGas), blobs.versionedHashes.map(fromHex)] : []),
  ]
}

/** The bytes of a typed transaction with the elements of its payload. */
export function typedBytes(type: number, items: readonly RlpItem[]): Uint8Array {
  return concat(typePrefix(type), encodeRlp(items))
}

/** A number of an element, `most` bytes at most and without leading zeros. */
function number(item: RlpItem | undefined, name: string, most = WORD_BYTES): bigint {
  if (item instanceof Uint8Array && item.length <= most && item[0] !== 0) return toBigInt(item)
  throw invalidTransaction(`${name} is not valid`)
}

function readPayload(payload: Uint8Array, isCanonical: boolean): RlpItem {
  let item: RlpItem
  try {
    item = decodeRlp(payload)
  } catch (error) {
    throw invalidTransaction(error instanceof Error ? error.message : String(error))
  }
  if (item instanceof Uint8Array) throw invalidTransaction('its payload is not an RLP list')
  // The hash is that of the bytes, so there may be one way only to write them.
  if (!isCanonical && !equal(encodeRlp(item), payload))
    throw invalidTransaction('its payload is not canonical RLP')
  return item
}

function readChainId(item: RlpItem | undefined): number {
  if (!(item instanceof Uint8Array) || item[0] === 0) {
    throw invalidTransaction('Typed transaction chainId is not valid')
  }
  if (item.length === 0) throw invalidTransaction('Typed transaction chainId must not be zero or absent')
  if (item.length > CHAIN_ID_BYTES) {
    const most = 2 ** (8 * CHAIN_ID_BYTES) - 1
    throw invalidTransaction(
      `Typed transaction chainId exceeds maximum supported value of ${most}, got: ${toBigInt(item)}`,
    )
  }
  return toNumber(item)
}

function readReceiver(item: RlpItem | undefined, type: number): Hex | null {
  if (item instanceof Uint8Array && item.length === ADDRESS_BYTES) return toHex(item)
  if (!(item instanceof Uint8Array) || item.length > 0)
    throw invalidTransaction('Receive address is not valid')
  if (type !== TYPE.setCode) return null
  throw invalidTransaction('Set-code transaction must have a non-null destination')
}

/** Parity, r and s; no parity of an unsigned one, whose r and s are absent. */
function readSignature([yParity, r, s]: readonly RlpItem[]): Pick<Parsed, 'parity'> & {
  r: bigint
  s: bigint
} {
  const [ofR, ofS] = [number(r, 'Signature R'), number(s, 'Signature S')]
  if (ofR === 0n && ofS === 0n) return { parity: undefined, r: 0n, s: 0n }
  if (ofR === 0n || ofS === 0n) throw invalidTransaction('Typed transaction signature is incomplete')
  const parity = number(yParity, 'Signature yParity')
  if (parity > 1n) throw invalidTransaction(`Typed transaction yParity must be 0 or 1, got: ${parity}`)
  return { parity: parity === 1n ? 1 : 0, r: ofR, s: ofS }
}

function checkFees(type: number, priority: bigint, most: bigint): void {
  if (priority <= most) return
  throw invalidTransaction(
    `Type ${type} transaction maxPriorityFeePerGas (${priority}) must not exceed maxFeePerGas (${most})`,
  )
}

function readFields(type: number, items: readonly RlpItem[], raw: Uint8Array): Parsed {
  const isMarket = type !== TYPE.accessList
  const signed = signedItems(type)
  if (items.length !== signed + SIGNATURE_ITEMS) {
    throw invalidTransaction(
      `${typeName(type)} transaction must have exactly ${signed + SIGNATURE_ITEMS} elements`,
    )
  }
  const chainId = readChainId(items[0])
  const gasPrice = number(items[2], 'Gas Price')
  const maxFeePerGas = isMarket ? number(items[3], 'Gas Price') : undefined
  if (maxFeePerGas !== undefined) checkFees(type, gasPrice, maxFeePerGas)
  const [gasLimit, to, value, data, accessList, authorizations] = items.slice(isMarket ? 4 : 3, signed)
  if (!(data instanceof Uint8Array)) throw invalidTransaction('Data is not valid')
  const { parity, r, s } = readSignature(items.slice(signed))
  return {
    fields: {
      hash: keccakHex(raw),
      nonce: number(items[1], 'Nonce'),
      gasPrice,
      gasLimit: number(gasLimit, 'Gas Limit'),
      to: readReceiver(to, type),
      value: number(value, 'Value'),
      data: data.slice(),
      v: parity ?? 0,
      r,
      s,
      chainId,
      raw,
      type,
      typed: {
        accessList: readAccessList(accessList),
        maxFeePerGas,
        maxPriorityFeePerGas: isMarket ? gasPrice : undefined,
        authorizations: type === TYPE.setCode ? readAuthorizations(authorizations) : undefined,
      },
    },
    parity,
  }
}

/** One of the chain's namespace: the payload is a legacy transaction's. */
function readNamespaced(type: number, payload: Uint8Array): Parsed {
  const { fields, parity } = parseTransaction(payload)
  const raw = concat(typePrefix(type), fields.raw)
  return { fields: { ...fields, hash: keccakHex(raw), raw, type }, parity }
}

/**
 * Reads a transaction of any type; `isCanonical`: its bytes were read before, and their form is not checked again. Throws
 * `invalid-params` with the reference node's messages.
 */
export function parseAny(raw: Uint8Array, isCanonical = false): Parsed {
  const type = readType(raw)
  if (type === TYPE.legacy) return parseTransaction(raw)
  const payload = raw.subarray(prefixLength(type))
  if (isNamespaced(type)) return readNamespaced(type, payload)
  const items = readPayload(payload, isCanonical)
  return readFields(type, items as readonly RlpItem[], raw.slice())
}

/** The element of a signature's parity. */
export function parityBytes(parity: 0 | 1): Uint8Array {
  return parity === 0 ? EMPTY : oneByte(1)
}
