/** Calls that run as unsigned transactions of a simulated block, with defaults for absent members. */
import { EMPTY_ACCOUNT, ZERO_ADDRESS } from '../chain/account.ts'
import { encodeUnsigned, type Transaction } from '../chain/transaction.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams, NodeError } from '../errors.ts'
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
  /** Keeps what the transaction did. */
  readonly state: Overlay
  readonly env: BlockEnvironment
  readonly vm: Vm
  readonly chainId: number
  /** Gas left in the block; a call without gas gets all of it, up to the cap. */
  readonly gasAvailable: bigint
  readonly gasCap: bigint
  /** Check nonce and price by the rules for blocks. The other rules always hold. */
  readonly validation: boolean
  readonly destroyedEarlier: ReadonlySet<Hex>
  readonly tracer?: Tracer | undefined
  /** Milliseconds of wall clock; `limit-exceeded` beyond. */
  readonly deadlineMs: number
}

function least(...values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a < b ? a : b))
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
  const { from = ZERO_ADDRESS, to = null, value = 0n, gasPrice = 0n, data = EMPTY } = call
  const unsigned = {
    nonce: call.nonce ?? state.account(from)?.nonce ?? 0n,
    gasPrice,
    gasLimit: call.gas ?? least(gasAvailable, gasCap, vm.rulesAt(env.number).maxGas),
    to,
    value,
    data,
    chainId,
  }
  const raw = encodeUnsigned(unsigned)
  return { ...unsigned, hash: keccakHex(raw), from, v: 0, r: 0n, s: 0n, raw, isRemasc: false }
}

/** Throws the error of the simulation standard for a transaction that cannot be in the block. */
function check(transaction: Transaction, parts: SimulatedTransactionParts): void {
  const { state, env, vm, gasAvailable, validation } = parts
  const { from, to, nonce, gasPrice, gasLimit, value, data } = transaction
  const account = state.account(from) ?? EMPTY_ACCOUNT
  const rules = vm.rulesAt(env.number)
  if (validation && nonce < account.nonce) {
    throw new NodeError('nonce-too-low', `nonce too low: ${from} has nonce ${account.nonce}, not ${nonce}`)
  }
  if (validation && nonce > account.nonce) {
    throw new NodeError('nonce-too-high', `nonce too high: ${from} has nonce ${account.nonce}, not ${nonce}`)
  }
  if (validation && gasPrice < env.minimumGasPrice) {
    const words = `gas price ${gasPrice} is below the minimum gas price ${env.minimumGasPrice} of the block`
    throw new NodeError('price-too-low', words)
  }
  if (gasLimit > gasAvailable) {
    throw new NodeError(
      'block-gas-exceeded',
      `block gas limit reached: ${gasLimit} exceeds the ${gasAvailable} left`,
    )
  }
  if (to === null && data.length > rules.maxInitcodeSize) {
    const words = `max initcode size exceeded: ${data.length} is above ${rules.maxInitcodeSize}`
    throw new NodeError('initcode-too-long', words)
  }
  const intrinsic = rules.intrinsicGas(transaction)
  if (gasLimit < intrinsic) {
    throw new NodeError('intrinsic-gas-too-low', `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`)
  }
  const cost = value + gasPrice * gasLimit
  if (account.balance < cost) {
    const words = `insufficient funds for gas * price + value: ${from} has ${account.balance}, needs ${cost}`
    throw new NodeError('cost-not-covered', words)
  }
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
    throw error instanceof TransactionRejected ? invalidParams(error.message) : error
  }
}
