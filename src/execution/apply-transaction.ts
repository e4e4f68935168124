/** One transaction: checked, charged by the chain's rules, run, and refunded (docs/internals/protocol.md#51-execution). */
import { EMPTY_ACCOUNT, withBalance, withNonce } from '../chain/account.ts'
import type { Creation } from '../chain/block.ts'
import type { Log } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import { TYPE, typeRefusal } from '../chain/transaction-types.ts'
import type { Hex } from '../encoding/hex.ts'
import { type Failure, failureOf } from '../evm/failure-message.ts'
import type { BlockEnvironment, MessageResult } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import type { Tracer } from '../evm/tracing/tracer.ts'
import type { Overlay } from '../state/overlay.ts'
import { applyAuthorizations, mayDelegate } from './authorizations.ts'

/** A transaction that cannot be part of the block. The state is unchanged. */
export class TransactionRejected extends Error {
  /** The value that the rule requires, and the transaction's. */
  readonly values: { readonly expected: string; readonly found: string } | undefined

  constructor(reason: string, expected?: unknown, found?: unknown) {
    super(reason)
    this.name = 'TransactionRejected'
    this.values = expected === undefined ? undefined : { expected: String(expected), found: String(found) }
  }
}

/** The result of a transaction. Gas in gas, fee in wei. */
export interface TransactionOutcome {
  /** The receipt's status. */
  readonly succeeded: boolean
  /** The receipt's gas used, after the refund. */
  readonly gasUsed: bigint
  /** The gas used before the refund. */
  readonly gasBeforeRefund: bigint
  /**
   * What the sender paid for gas, collected for the block; not always `gasUsed` × price
   * (docs/internals/protocol.md#failing-precompiles).
   */
  readonly fee: bigint
  readonly logs: readonly Log[]
  readonly output: Uint8Array
  /** Why it did not succeed. */
  readonly failure?: Failure | undefined
  /** Address of a creation transaction's contract, also of a failed one. */
  readonly created?: Hex | undefined
  /** As in `MessageResult`; of the REMASC transaction the receivers of payments. */
  readonly participants?: ReadonlySet<Hex> | undefined
  readonly creations?: readonly Creation[] | undefined
  /** Contracts that it deleted. */
  readonly destroyed: readonly Hex[]
  /** Call data to the console contract; absent when there is none. */
  readonly consoleCalls?: readonly Uint8Array[] | undefined
}

/** What running a transaction needs. */
export interface TransactionParts {
  readonly transaction: Transaction
  /** Place in the block. Default 0. */
  readonly transactionIndex?: number
  /** Gets the changes of the transaction; unchanged when the run throws. */
  readonly state: Overlay
  readonly env: BlockEnvironment
  readonly vm: Vm
  /** Gas left in the transaction's list of the block. */
  readonly gasAvailable: bigint
  /** Contracts destroyed by earlier transactions of that list. */
  readonly destroyedEarlier?: ReadonlySet<Hex> | undefined
  /** Milliseconds of wall clock; `limit-exceeded` beyond. Absent: no limit. */
  readonly deadlineMs?: number | undefined
  readonly tracer?: Tracer | undefined
}

/** Runs a transaction. Throws TransactionRejected when it cannot be included. */
export async function applyTransaction(parts: TransactionParts): Promise<TransactionOutcome> {
  const { state } = parts
  const intrinsic = checkIncludable(parts)
  const depth = state.depth
  state.checkpoint()
  try {
    const outcome = await run(parts, intrinsic)
    state.commit()
    return outcome
  } catch (error) {
    while (state.depth > depth) state.revert()
    throw error
  }
}

/** The intrinsic gas of a transaction that can be included; throws TransactionRejected for any other. */
function checkIncludable({ transaction, state, env, vm, gasAvailable }: TransactionParts): bigint {
  const rules = vm.rulesAt(env.number)
  const { from, gasLimit, gasPrice, value, nonce, to, data, type } = transaction
  const wrongType = typeRefusal(type, rules.types)
  if (wrongType !== undefined) throw new TransactionRejected(wrongType)
  const sender = state.account(from)
  if (type === TYPE.setCode && !mayDelegate(sender, state)) {
    throw new TransactionRejected('the sender of a set-code transaction has code of its own')
  }
  const { nonce: expected, balance } = sender ?? EMPTY_ACCOUNT
  if (gasLimit > rules.maxGas) {
    const reason = `gas limit ${gasLimit} is above ${rules.maxGas}`
    throw new TransactionRejected(reason, `at most ${rules.maxGas}`, gasLimit)
  }
  if (gasLimit > gasAvailable) {
    const reason = `gas limit ${gasLimit} exceeds the ${gasAvailable} left in the block`
    throw new TransactionRejected(reason, `at most ${gasAvailable}`, gasLimit)
  }
  if (nonce !== expected) {
    throw new TransactionRejected(`nonce ${nonce} is not the account's ${expected}`, expected, nonce)
  }
  if (to === null && data.length > rules.maxInitcodeSize) {
    throw new TransactionRejected("transaction's init code size is invalid")
  }
  const intrinsic = rules.intrinsicGas(transaction)
  if (intrinsic > gasLimit) {
    const reason = `gas limit ${gasLimit} is below the intrinsic gas ${intrinsic}`
    throw new TransactionRejected(reason, `at least ${intrinsic}`, gasLimit)
  }
  // A free call of the Bridge is included whatever gas it could not pay for.
  const price = value + (intrinsic > 0n ? gasPrice * gasLimit : 0n)
  if (price > balance) {
    throw new TransactionRejected(`balance ${balance} does not cover ${price}`, `at least ${price}`, balance)
  }
  return intrinsic
}

async function run(parts: TransactionParts, intrinsic: bigint): Promise<TransactionOutcome> {
  const { transaction, transactionIndex, state, env, vm, destroyedEarlier, deadlineMs, tracer } = parts
  const { from, to, value, data, gasLimit, gasPrice } = transaction
  const sender = state.account(from) ?? EMPTY_ACCOUNT
  state.putAccount(
    from,
    withNonce(withBalance(sender, sender.balance - gasLimit * gasPrice), sender.nonce + 1n),
  )
  const delegated = applyAuthorizations(state, transaction.typed?.authorizations, transaction.chainId)
  const message = { from, to, value, data, gas: gasLimit - intrinsic, gasPrice, origin: from, transaction }
  const result = await vm.run(message, state, env, {
    destroyedEarlier,
    deadlineMs,
    tracer,
    transactionIndex,
  })

  const gasBeforeRefund = intrinsic + result.gasUsed
  const { gasUsed, charged } = bill(result, delegated, gasBeforeRefund, gasLimit)
  const back = state.account(from) ?? EMPTY_ACCOUNT
  state.putAccount(from, withBalance(back, back.balance + (gasLimit - charged) * gasPrice))
  const fee = charged * gasPrice
  for (const address of result.destroyed) state.deleteAccount(address)

  // The receipt is that of a success when the transaction itself calls a precompiled contract that fails.
  const failure = result.precompileFailed ? undefined : failureOf(result)
  return {
    succeeded: failure === undefined,
    gasUsed,
    gasBeforeRefund,
    fee,
    logs: result.logs,
    output: result.output,
    failure,
    created: result.created,
    destroyed: result.destroyed,
    participants: result.participants,
    creations: result.creations,
    consoleCalls: result.consoleCalls,
  }
}

/** Gas for the receipt and gas to pay; the refund, with that of authorizations, is at most half of what was used. */
function bill(
  result: MessageResult,
  delegated: bigint,
  used: bigint,
  gasLimit: bigint,
): { gasUsed: bigint; charged: bigint } {
  if (result.precompileFailed) return { gasUsed: used, charged: gasLimit }
  const wanted = result.refund + delegated
  const refund = wanted < used / 2n ? wanted : used / 2n
  return { gasUsed: used - refund, charged: used - refund }
}
