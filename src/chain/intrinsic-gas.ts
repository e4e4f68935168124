/** Gas that a transaction costs before any code runs (docs/internals/protocol.md#44-intrinsic-gas). */
import { countZeros } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { accessListBytes } from './access-list.ts'
import { BRIDGE_SENDERS, type BridgeSenders, isFreeBridgeTransaction } from './bridge-senders.ts'
import type { Transaction } from './transaction.ts'
import type { TypedFields } from './transaction-bytes.ts'

/** Gas of a byte of data that is zero. */
const ZERO_BYTE_GAS = 4

/** Gas of a byte of the RLP of an access list that is not empty (RSKIP-546). */
const ACCESS_LIST_BYTE_GAS = 80

/** Gas of each authorization before the transaction runs (RSKIP-545). */
export const AUTHORIZATION_GAS = 25_000

/** Gas per whole or started word of init code (EIP-3860, RSKIP-438). */
export const INITCODE_WORD_GAS = 2

/** Longest init code, bytes (EIP-3860, RSKIP-438). */
export const MAX_INITCODE_SIZE = 49_152

/** What the intrinsic gas depends on beside the transaction (docs/internals/protocol.md#44-intrinsic-gas). */
export interface IntrinsicPrices {
  /** Gas of a byte of data that is not zero: 16 since RSKIP-400 (EIP-2028), 68 before. */
  readonly dataByte: number
  /** Gas of a word of init code: `INITCODE_WORD_GAS` since RSKIP-438, 0 before. */
  readonly initcodeWord: number
  /** The Bridge's own senders where they call it free of charge: only while a network is set up. */
  readonly freeSenders: BridgeSenders | undefined
}

/** The prices with every rule in force, on a network that never ends its set-up. */
export const PRESENT_PRICES: IntrinsicPrices = {
  dataByte: 16,
  initcodeWord: INITCODE_WORD_GAS,
  freeSenders: BRIDGE_SENDERS.regtest,
}

/** What the intrinsic gas of a transaction depends on. */
export interface IntrinsicParts extends Pick<Transaction, 'to' | 'data'> {
  readonly from?: Hex
  readonly typed?: Pick<TypedFields, 'accessList' | 'authorizations'> | undefined
}

/** Gas of the lists of a typed transaction. */
function listGas({ accessList, authorizations = [] }: NonNullable<IntrinsicParts['typed']>): number {
  const bytes = accessList.length > 0 ? accessListBytes(accessList) : 0
  return ACCESS_LIST_BYTE_GAS * bytes + AUTHORIZATION_GAS * authorizations.length
}

/**
 * Gas that a transaction costs before any code runs (docs/internals/protocol.md#44-intrinsic-gas): base, data by byte,
 * init code by word, access list by byte, authorizations. Without a sender, as in a simulation, none is free.
 */
export function intrinsicGas(
  transaction: IntrinsicParts,
  { dataByte, initcodeWord, freeSenders }: IntrinsicPrices = PRESENT_PRICES,
): bigint {
  const { from, to, data, typed } = transaction
  if (freeSenders !== undefined && from !== undefined && isFreeBridgeTransaction(from, to, freeSenders))
    return 0n
  const base = to === null ? 53_000 + initcodeWord * Math.ceil(data.length / 32) : 21_000
  const zeros = countZeros(data)
  const lists = typed === undefined ? 0 : listGas(typed)
  return BigInt(base + lists + ZERO_BYTE_GAS * zeros + dataByte * (data.length - zeros))
}
