/** The rules for entering the pool and for replacing a transaction: the reference node's checks, order and texts. Pure. */
import { type Account, EMPTY_ACCOUNT } from '../../chain/account.ts'
import { encodedNonce, type Transaction } from '../../chain/transaction.ts'
import { typeRefusal } from '../../chain/transaction-types.ts'
import { CHAIN_RULES, type VmRules } from '../../evm/rules.ts'

/** What the checks read of the rules of a block. */
export type PolicyRules = Pick<VmRules, 'intrinsicGas' | 'maxInitcodeSize' | 'types'>

/** What an entering transaction is checked against. */
export interface PolicyContext {
  /** Of the next block, wei per gas. */
  readonly minimumGasPrice: bigint
  /** The sender's account after the best block. */
  readonly account: Account | undefined
  /** Largest gas limit of a transaction in a block on the head. */
  readonly maxTransactionGas: bigint
  /** A nonce must be below the account's plus this. */
  readonly accountSlots: number
  /** Of the next block. Default: with every rule in force. */
  readonly rules?: PolicyRules
}

/** Maximum length of a transaction, bytes of RLP. */
export const MAX_TRANSACTION_BYTES = 131_072
const MAX_NONCE_BYTES = 8
/** The pool takes gas prices up to this many times the best block's minimum (RSKIP-252); blocks take a little more. */
const PRICE_CAP_FACTOR = 80n
/** Minimum gas price of a replacement, in percent of the replaced price. */
const BUMP_PERCENT = 140n

// The refusals that error messages for other clients reword.
/** The sender has no account. */
export const EMPTY_SENDER = "the sender account doesn't exist"
/** The balance is below the cost of all gas. */
export const INSUFFICIENT_FUNDS = 'insufficient funds'
/** The nonce is below the account's. */
export const NONCE_TOO_LOW = 'transaction nonce too low'
/** The gas limit is below the intrinsic gas. */
export const INTRINSIC_GAS_TOO_LOW = "transaction's basic cost is above the gas limit"
/** The price is too near that of the transaction with the same nonce. */
export const REPLACEMENT_UNDERPRICED = 'gas price not enough to bump transaction'

/** Maximum that a transaction can cost its sender, wei: value and all its gas, of which a free call of the Bridge pays none. */
export function costOf(transaction: Transaction, rules: Pick<VmRules, 'intrinsicGas'> = CHAIN_RULES): bigint {
  const { value, gasLimit, gasPrice } = transaction
  return rules.intrinsicGas(transaction) === 0n ? value : value + gasLimit * gasPrice
}

/** The reason for refusing a transaction that is too long. */
export function sizeRefusal(bytes: number): string {
  return `transaction's size is higher than defined maximum: ${bytes} > ${MAX_TRANSACTION_BYTES}`
}

/**
 * Why the pool does not accept this transaction, even as a queued one (checks 3 to 15 of
 * docs/internals/rpc-reference.md#75-sending; docs/internals/protocol.md#45-pool-admission), or `undefined`.
 */
export function refusalOf(transaction: Transaction, context: PolicyContext): string | undefined {
  const { minimumGasPrice, maxTransactionGas, accountSlots, rules = CHAIN_RULES } = context
  const { data, to, raw, isRemasc, gasLimit, gasPrice, nonce, type } = transaction
  const intrinsic = rules.intrinsicGas(transaction)
  const isFree = intrinsic === 0n
  if (context.account === undefined && !isFree) return EMPTY_SENDER
  const account = context.account ?? EMPTY_ACCOUNT
  const wrongType = typeRefusal(type, rules.types)
  if (wrongType !== undefined) return wrongType
  if (to === null && data.length > rules.maxInitcodeSize) return "transaction's init code size is invalid"
  if (raw.length > MAX_TRANSACTION_BYTES) return sizeRefusal(raw.length)
  if (isRemasc) return 'transaction is a remasc transaction'
  if (gasLimit > maxTransactionGas) {
    return `transaction's gas limit of ${gasLimit} is higher than the block's gas limit of ${maxTransactionGas}`
  }
  const badNonce = nonceRefusal(encodedNonce(transaction))
  if (badNonce !== undefined) return badNonce
  if (nonce < account.nonce) return NONCE_TOO_LOW
  if (nonce >= account.nonce + BigInt(accountSlots)) return 'transaction nonce too high'
  if (!isFree && account.balance < gasLimit * gasPrice) return INSUFFICIENT_FUNDS
  if (gasPrice < minimumGasPrice) return "transaction's gas price lower than block's minimum"
  if (intrinsic > gasLimit) return INTRINSIC_GAS_TOO_LOW
  if (minimumGasPrice > 0n && gasPrice > minimumGasPrice * PRICE_CAP_FACTOR) {
    return "transaction's gas price exceeds cap"
  }
  return undefined
}

function nonceRefusal(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_NONCE_BYTES) {
    return `transaction nonce byte length exceeds maximum: ${bytes.length} > ${MAX_NONCE_BYTES}`
  }
  return bytes[0] === 0 ? 'transaction nonce has non-canonical encoding' : undefined
}

/** Why a transaction may not replace a runnable one with its nonce, or `undefined`. Prices in wei per gas. */
export function replacementRefusal(price: bigint, replacedPrice: bigint): string | undefined {
  const enough = price > replacedPrice && price >= (replacedPrice * BUMP_PERCENT) / 100n
  return enough ? undefined : REPLACEMENT_UNDERPRICED
}
