/** Calls that run as unsigned transactions of a simulated block, with defaults for absent members. */
import { EMPTY_ACCOUNT, ZERO_ADDRESS } from '../chain/account.ts'
import { encodeUnsigned, type Transaction } from '../chain/transaction.ts'
import type { TypedFields } from '../chain/transaction-bytes.ts'
import { TYPE } from '../chain/transaction-types.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { type ErrorKind, NodeError } from '../errors.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import type { Tracer } from '../evm/tracing/tracer.ts'
import type { Overlay } from '../state/overlay.ts'
import { applyTransaction, type TransactionOutcome, TransactionRejected } from './apply-transaction.ts'
import type { CallRequest } from './request.ts'
import { tracedState } from './traced-state.ts'

/** A call to simulate; the sender's next nonce unless given. */
export interface SimulatedCall extends CallRequest {
  readonly nonce?: bigint
}

/** What simulating a transaction needs. */
export interface SimulatedTransactionParts {
  readonly call: SimulatedCall
  /** What error messages call it: `payload.blockStateCalls[0].calls[0]`. They do not name it when absent. */
  readonly name?: string
  /** Keeps what the transaction did. */
  readonly state: Overlay
  readonly env: BlockEnvironment
  readonly vm: Vm
  readonly chainId: number
  /** Gas left in the block; a call without gas gets all of it, up to the cap. */
  readonly gasAvailable: bigint
  /** Most gas that the call gets, whatever it asks for. */
  readonly gasCap: bigint
  /** Check nonce and price by the rules for blocks. The other rules always hold. */
  readonly validation: boolean
  /** How many times the minimum gas price a valid price may be (RSKIP-252); any when absent. */
  readonly gasPriceCap?: bigint | undefined
  readonly destroyedEarlier: ReadonlySet<Hex>
  readonly tracer?: Tracer | undefined
  /** Milliseconds of wall clock; `limit-exceeded` beyond. */
  readonly deadlineMs: number
}

function least(...values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a < b ? a : b))
}

/** The fields of a typed transaction, with the fees that it does not name. */
function pricedFields(
  type: number,
  typed: TypedFields | undefined,
  gasPrice: bigint,
): TypedFields | undefined {
  if (typed === undefined || type === TYPE.accessList) return typed
  const { maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = typed
  return { ...typed, maxFeePerGas, maxPriorityFeePerGas }
}

/** The unsigned transaction of a call. Its hash does not depend on the sender. */
function transactionOf({
  call,
  state,
  chainId,
  gasAvailable,
  gasCap,
  vm,
  env,
}: SimulatedTransactionParts): Transaction {
  const {
    from = ZERO_ADDRESS,
    to = null,
    value = 0n,
    gasPrice = 0n,
    data = EMPTY,
    type = TYPE.legacy,
    typed,
  } = call
  const unsigned = {
    nonce: call.nonce ?? state.account(from)?.nonce ?? 0n,
    gasPrice,
    gasLimit: least(call.gas ?? least(gasAvailable, vm.rulesAt(env.number).maxGas), gasCap),
    to,
    value,
    data,
    chainId,
    type,
    typed: pricedFields(type, typed, gasPrice),
  }
  const raw = encodeUnsigned(unsigned)
  return { ...unsigned, hash: keccakHex(raw), from, v: 0, r: 0n, s: 0n, raw, isRemasc: false }
}

/** A refusal, which ends with the name of the call. */
function refusal(
  kind: ErrorKind,
  { name }: Pick<SimulatedTransactionParts, 'name'>,
  words: string,
  remark = '',
): NodeError {
  return new NodeError(kind, name === undefined ? words : `${words} (${name}${remark})`)
}

/** Checks nonce and price as in a block. */
function checkValidity(transaction: Transaction, parts: SimulatedTransactionParts): void {
  const { state, env, gasPriceCap } = parts
  const { from, nonce, gasPrice } = transaction
  const minimum = env.minimumGasPrice
  const { nonce: expected } = state.account(from) ?? EMPTY_ACCOUNT
  const difference = `address ${from}, tx: ${nonce} state: ${expected}`
  if (nonce < expected) throw refusal('nonce-too-low', parts, `nonce too low: ${difference}`)
  if (nonce > expected) throw refusal('nonce-too-high', parts, `nonce too high: ${difference}`)
  if (gasPrice < minimum) {
    const prices = `address ${from}, maxFeePerGas: ${gasPrice}, baseFee: ${minimum}`
    const remark = ': the base fee is the minimum gas price of the block'
    throw refusal('price-too-low', parts, `max fee per gas less than block base fee: ${prices}`, remark)
  }
  if (gasPriceCap !== undefined && minimum > 0n && gasPrice > minimum * gasPriceCap) {
    const words = `gas price ${gasPrice} is above ${gasPriceCap} times the minimum gas price ${minimum}`
    throw refusal('invalid-params', parts, words)
  }
}

/** Throws the error of the simulation standard for a transaction that cannot be in the block, in geth's words. */
function check(transaction: Transaction, parts: SimulatedTransactionParts): void {
  const { call, state, env, vm, gasAvailable, gasCap, validation } = parts
  const { from, to, gasPrice, gasLimit, value, data } = transaction
  const rules = vm.rulesAt(env.number)
  const wanted = call.gas ?? gasLimit
  if (wanted > gasAvailable) {
    const words = `block gas limit reached: ${wanted} exceeds the ${gasAvailable} left`
    throw refusal('block-gas-exceeded', parts, words)
  }
  if (validation) checkValidity(transaction, parts)
  const intrinsic = rules.intrinsicGas(transaction)
  if (gasCap < intrinsic && gasCap < gasAvailable) {
    const words = `gas cap reached: all calls together may use ${gasCap} more`
    throw refusal('simulation-limit', parts, words)
  }
  if (to === null && data.length > rules.maxInitcodeSize) {
    const words = `max initcode size exceeded: code size ${data.length} limit ${rules.maxInitcodeSize}`
    throw refusal('initcode-too-long', parts, words)
  }
  if (gasLimit < intrinsic) {
    const words = `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`
    throw refusal('intrinsic-gas-too-low', parts, words)
  }
  const { balance } = state.account(from) ?? EMPTY_ACCOUNT
  const cost = value + gasPrice * gasLimit
  if (balance < cost) {
    const words = `insufficient funds for gas * price + value: address ${from} have ${balance} want ${cost}`
    throw refusal('cost-not-covered', parts, words)
  }
}

/** Why a block cannot hold a transaction. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set([
  'invalid-params',
  'nonce-too-low',
  'nonce-too-high',
  'price-too-low',
  'intrinsic-gas-too-low',
  'cost-not-covered',
  'block-gas-exceeded',
  'initcode-too-long',
  'simulation-limit',
])

/** The error of a simulated message that could not run, where others run after it. Throws any other error, which ends them all. */
export function refusalIn(error: unknown): NodeError {
  if (error instanceof NodeError && REFUSALS.has(error.kind)) return error
  throw error
}

/**
 * Runs a call as a transaction of a block. Throws a `NodeError` when the transaction cannot be in the block, with nothing
 * changed.
 */
export async function applySimulated(
  parts: SimulatedTransactionParts,
): Promise<{ readonly transaction: Transaction; readonly outcome: TransactionOutcome }> {
  const { state, env, vm, gasAvailable, destroyedEarlier, tracer, deadlineMs } = parts
  const transaction = transactionOf(parts)
  check(transaction, parts)
  const traced = tracedState(state, tracer)
  try {
    const outcome = await applyTransaction({
      // Without validation any nonce is accepted; the account's own is incremented.
      transaction: { ...transaction, nonce: state.account(transaction.from)?.nonce ?? 0n },
      state: traced.state,
      env,
      vm,
      gasAvailable,
      destroyedEarlier,
      tracer,
      deadlineMs,
    })
    traced.end(transaction.gasLimit, outcome)
    return { transaction, outcome }
  } catch (error) {
    throw error instanceof TransactionRejected ? refusal('invalid-params', parts, error.message) : error
  }
}
