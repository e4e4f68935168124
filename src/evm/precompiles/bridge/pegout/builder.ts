/**
 * Makes transactions that federations sign: which outputs they spend, what is left for the receivers after the fee, and
 * where the change goes. All of it is consensus, as in the wallet of the reference node's library.
 */
import { reversed } from '../../../../bitcoin/hash.ts'
import type { Output, Transaction } from '../../../../bitcoin/transaction.ts'
import { compare } from '../../../../encoding/bytes.ts'
import { MAX_COINS } from '../constants/network.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import { dustLimit, feeSize, isDust, LEAST_FEE, type Spent, spentBy } from './fees.ts'
import { draftOf, unsignedRelease } from './unsigned.ts'
import { balanceOf, type Wallet } from './wallet.ts'

/** Why a transaction cannot be made. */
export type BuildFailure = 'insufficient money' | 'output too small for its fee' | 'dust' | 'too large'

/** A transaction to make. */
export interface ReleasePlan {
  readonly wallet: Wallet
  /** What is sent, satoshi before the fee. */
  readonly payments: readonly Output[]
  /** Script that the change goes to. */
  readonly change: Uint8Array
  /** Do the receivers pay the fee? Otherwise the wallet does. */
  readonly isPaidByReceivers: boolean
  /** Satoshi per thousand bytes. */
  readonly feePerKb: bigint
  readonly version: number
}

/** A transaction without signatures, and what it spends, in the order of its inputs. */
export interface Release {
  readonly transaction: Transaction
  readonly spent: readonly SpendableOutput[]
}

/** Outputs and inputs for a fee. */
interface Attempt {
  readonly selected: readonly SpendableOutput[]
  readonly outputs: readonly Output[]
  /** What the transaction leaves to miners: the fee, and change that would be dust. */
  readonly fee: bigint
}

function byOrigin(a: SpendableOutput, b: SpendableOutput): number {
  return compare(reversed(a.hash), reversed(b.hash)) || a.index - b.index
}

/** Outputs of at least `target` satoshi together, by their transactions' hashes; all of them when there is less. */
function select({ outputs }: Wallet, target: bigint): readonly SpendableOutput[] {
  const sorted = target === MAX_COINS ? outputs : outputs.toSorted(byOrigin)
  const selected: SpendableOutput[] = []
  let total = 0n
  for (const output of sorted) {
    if (total >= target) break
    selected.push(output)
    total += output.value
  }
  return selected
}

/** The payments after their part of the fee; the first pays what does not divide. */
function reduced(payments: readonly Output[], fee: bigint): readonly Output[] {
  const count = BigInt(payments.length)
  return payments.map(({ value, script }, i) => ({
    value: value - fee / count - (i === 0 ? fee % count : 0n),
    script,
  }))
}

const sumOf = (outputs: readonly Output[]): bigint => outputs.reduce((sum, { value }) => sum + value, 0n)

/** Adds change to payments that receivers pay for: small change is raised to what is no dust, at the cost of the first. */
function withRaisedChange(payments: readonly Output[], change: Output): readonly Output[] | BuildFailure {
  const missing = dustLimit(change.script) - change.value
  if (missing <= 0n) return [...payments, change]
  const [first, ...rest] = payments
  if (first === undefined) return 'output too small for its fee'
  const paying = { ...first, value: first.value - missing }
  if (isDust(paying)) return 'output too small for its fee'
  return [paying, ...rest, { ...change, value: change.value + missing }]
}

function attempt(
  { wallet, payments, change, isPaidByReceivers }: ReleasePlan,
  fee: bigint,
): Attempt | BuildFailure {
  const outputs = isPaidByReceivers ? reduced(payments, fee) : payments
  if (isPaidByReceivers && outputs.some(isDust)) return 'output too small for its fee'
  const target = sumOf(payments) + (isPaidByReceivers ? 0n : fee)
  const selected = select(wallet, target)
  const left = balanceOf({ outputs: selected }) - target
  if (left < 0n) return 'insufficient money'
  if (left === 0n) return { selected, outputs, fee }
  const remainder = { value: left, script: change }
  if (isPaidByReceivers) {
    const raised = withRaisedChange(outputs, remainder)
    return typeof raised === 'string' ? raised : { selected, outputs: raised, fee }
  }
  if (isDust(remainder)) return { selected, outputs, fee: fee + left }
  return { selected, outputs: [...outputs, remainder], fee }
}

/** Raises the fee until it covers the transaction that it pays for. */
function settleFee(
  plan: ReleasePlan,
): { readonly attempt: Attempt; readonly spent: readonly Spent[] } | BuildFailure {
  const { wallet, version } = plan
  const price = plan.feePerKb < LEAST_FEE ? LEAST_FEE : plan.feePerKb
  let fee = 0n
  for (;;) {
    const made = attempt(plan, fee)
    if (typeof made === 'string') return made
    const spent = made.selected.map((output) => spentBy(wallet.fund(output)))
    const draft = draftOf(version, spent, made.outputs)
    const needed = (price * feeSize(draft, spent, wallet.federation.format)) / 1000n
    if (made.fee >= needed) return { attempt: made, spent }
    fee = needed
  }
}

/** Makes a transaction; a word when it cannot be made. Throws a RangeError for an output that the federation cannot spend. */
export function buildRelease(plan: ReleasePlan): Release | BuildFailure {
  if (plan.payments.some(isDust)) return 'dust'
  const settled = settleFee(plan)
  if (typeof settled === 'string') return settled
  const { attempt: made, spent } = settled
  const draft = draftOf(plan.version, spent, made.outputs)
  const transaction = unsignedRelease(draft, spent, plan.wallet.federation.format)
  return transaction === undefined ? 'too large' : { transaction, spent: made.selected }
}
