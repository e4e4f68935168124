/** Does the mempool accept a transaction? */
import { POLICY_RULES } from '../interpreter/flags.ts'
import { signatureOperationCost } from '../interpreter/signature-operations.ts'
import { isCoinbase, type Transaction } from '../transaction.ts'
import { idOf, transactionSizes } from './block.ts'
import { type Coin, outputKey, spentKey } from './coin.ts'
import { coinTimes, type KnownScripts } from './connection.ts'
import { ancestorsOf, coinOf, conflictsOf, descendantsOf, withEntry, withoutEntries } from './mempool.ts'
import {
  CHAIN_LIMITS,
  checkStandard,
  checkStandardInputs,
  feeFor,
  MAX_STANDARD_CHECKS_COST,
  RELAY_FEE,
} from './policy.ts'
import { WITNESS_SCALE } from './regtest.ts'
import { RuleViolation, requireRule } from './rule-violation.ts'
import { bestBlock, type ChainState, type MempoolEntry, medianTime } from './state.ts'
import { areSequencesOver, isFinal } from './time-locks.ts'
import { checkForm, checkScripts, feeOf, scriptFailureOf } from './transaction-rules.ts'

/** Most entries that a replacement may evict. */
const MAX_REPLACED = 100

/** What a transaction is checked with. */
export interface AcceptanceOptions {
  /** Seconds since 1970. */
  readonly now: number
  readonly isKnown: KnownScripts
  /** False for transactions of blocks that were taken off, which were accepted once. */
  readonly hasPolicy: boolean
}

/** Virtual bytes of an entry. */
export function virtualBytes({ sizes }: Pick<MempoolEntry, 'sizes'>): number {
  return Math.ceil(sizes.weight / WITNESS_SCALE)
}

function checkNew(state: ChainState, transaction: Transaction, id: string): void {
  requireRule(!isCoinbase(transaction), 'coinbase')
  const known = state.mempool.get(id)
  requireRule(known === undefined, 'txn-already-in-mempool')
  const isInChain = transaction.outputs.some((_, index) => state.coins.has(outputKey(id, index)))
  requireRule(!isInChain, 'txn-already-known')
}

function coinsSpent(state: ChainState, transaction: Transaction): readonly Coin[] {
  const coins = transaction.inputs.flatMap((input) => coinOf(state, spentKey(input)) ?? [])
  requireRule(coins.length === transaction.inputs.length, 'missing-inputs')
  return coins
}

function checkTimes(state: ChainState, transaction: Transaction, coins: readonly Coin[]): void {
  const tip = bestBlock(state)
  const median = medianTime(state, tip)
  requireRule(isFinal(transaction, tip.height + 1, median), 'non-final')
  const times = coinTimes(state, tip, coins)
  requireRule(areSequencesOver(transaction, times, tip.height + 1, median), 'non-BIP68-final')
}

function checkFee({ fee }: MempoolEntry, bytes: number): void {
  const least = feeFor(bytes, RELAY_FEE)
  requireRule(fee >= least, 'min relay fee not met', `${fee} < ${least}`)
}

function checkChain(state: ChainState, transaction: Transaction, bytes: number): void {
  const ancestors = ancestorsOf(state, transaction)
  const size = ancestors.reduce((sum, entry) => sum + virtualBytes(entry), bytes)
  const isShort = ancestors.length < CHAIN_LIMITS.transactions && size <= CHAIN_LIMITS.bytes
  requireRule(
    isShort,
    'too-long-mempool-chain',
    `too many unconfirmed ancestors [limit: ${CHAIN_LIMITS.transactions}]`,
  )
  for (const { id } of ancestors) {
    const count = descendantsOf(state, id).length + 2
    const limit = `too many descendants for tx ${id} [limit: ${CHAIN_LIMITS.transactions}]`
    requireRule(count <= CHAIN_LIMITS.transactions, 'too-long-mempool-chain', limit)
  }
}

function checkPolicyScripts(transaction: Transaction, coins: readonly Coin[]): void {
  const failure = scriptFailureOf(transaction, coins, POLICY_RULES)
  if (failure === undefined) return
  checkScripts(transaction, coins)
  throw new RuleViolation(`non-mandatory-script-verify-flag (${failure.message})`)
}

/** What a replacement evicts. Throws a `RuleViolation` when it does not pay for it (BIP-125, with every transaction replaceable). */
function replacedBy(state: ChainState, entry: MempoolEntry, bytes: number): readonly MempoolEntry[] {
  const conflicts = conflictsOf(state, entry.transaction)
  if (conflicts.length === 0) return []
  const evicted = new Map(
    conflicts.flatMap((one) => [one, ...descendantsOf(state, one.id)]).map((one) => [one.id, one]),
  )
  const isOwn = ancestorsOf(state, entry.transaction).some(({ id }) => evicted.has(id))
  requireRule(!isOwn, 'bad-txns-spends-conflicting-tx', `${entry.id} spends conflicting transaction`)
  requireRule(
    evicted.size <= MAX_REPLACED,
    'too many potential replacements',
    `rejecting replacement ${entry.id}`,
  )
  const paid = [...evicted.values()].reduce((sum, { fee }) => sum + fee, 0n)
  const isPaid = entry.fee >= paid + feeFor(bytes, RELAY_FEE)
  requireRule(
    isPaid,
    'insufficient fee',
    `rejecting replacement ${entry.id}; new fee ${entry.fee}, conflicting fees ${paid}`,
  )
  return [...evicted.values()]
}

function entryOf(
  state: ChainState,
  transaction: Transaction,
  coins: readonly Coin[],
  now: number,
): MempoolEntry {
  const { height } = bestBlock(state)
  return {
    id: idOf(transaction),
    transaction,
    fee: feeOf(transaction, coins, height + 1),
    time: now,
    height,
    sizes: transactionSizes(transaction),
    checksCost: signatureOperationCost(
      transaction,
      coins.map(({ script }) => script),
    ),
    arrival: state.arrivals,
  }
}

/** What a transaction does to a mempool. */
export interface Acceptance {
  readonly entry: MempoolEntry
  /** Without what the transaction replaces, and with it. */
  readonly state: ChainState
}

/** The mempool with a transaction. Throws a `RuleViolation`. */
export function accept(
  state: ChainState,
  transaction: Transaction,
  { now, isKnown, hasPolicy }: AcceptanceOptions,
): Acceptance {
  checkForm(transaction)
  if (hasPolicy) checkStandard(transaction)
  checkNew(state, transaction, idOf(transaction))
  const coins = coinsSpent(state, transaction)
  checkTimes(state, transaction, coins)
  const entry = entryOf(state, transaction, coins, now)
  const bytes = virtualBytes(entry)
  requireRule(entry.checksCost <= MAX_STANDARD_CHECKS_COST, 'bad-txns-too-many-sigops')
  if (hasPolicy) {
    checkStandardInputs(transaction, coins)
    checkFee(entry, bytes)
  }
  const left = withoutEntries(state, replacedBy(state, entry, bytes))
  if (hasPolicy) checkChain(left, transaction, bytes)
  if (!isKnown(transaction)) checkPolicyScripts(transaction, coins)
  return { entry, state: withEntry(left, entry) }
}
