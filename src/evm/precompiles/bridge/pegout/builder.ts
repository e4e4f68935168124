/**
 * Makes transactions that federations sign: which outputs they spend, what is left for the receivers after the fee, and
 * where the change goes. All of it is consensus, as in the wallet of the reference node's library.
 */
import { reversed } from '../../../../bitcoin/hash.ts'
import type { Output, Transaction } from '../../../../bitcoin/transaction.ts'
import { compare } from '../../../../encoding/bytes.ts'
import { MAX_COINS } from '../constants/network.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import {
  dustLimit,
  feeSize,
  type InputSizes,
  isDust,
  LEAST_FEE,
  type Spent,
  signingSize,
  spentBy,
} from './fees.ts'
import { draftOf, unsignedRelease } from './unsigned.ts'
import type { Wallet } from './wallet.ts'

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

/** Outputs for a fee. */
interface Attempt {
  readonly outputs: readonly Output[]
  /** What the transaction leaves to miners: the fee, and change that would be dust. */
  readonly fee: bigint
}

function byOrigin(a: SpendableOutput, b: SpendableOutput): number {
  return compare(reversed(a.hash), reversed(b.hash)) || a.index - b.index
}

/** The order in which outputs are spent: by their transactions' hashes; as they are when all coins there are is asked for. */
function inSpendingOrder({ outputs }: Wallet, value: bigint): readonly SpendableOutput[] {
  return value === MAX_COINS ? outputs : outputs.toSorted(byOrigin)
}

/**
 * Takes outputs in order for values that grow from one call to the next. Each is looked at once: where many small outputs
 * pay for the fee, it grows in thousands of steps.
 */
class Selector {
  readonly #wallet: Wallet
  readonly #outputs: readonly SpendableOutput[]
  readonly #spent: Spent[] = []
  #count = 0
  #total = 0n
  #signing = 0n

  constructor(wallet: Wallet, outputs: readonly SpendableOutput[]) {
    this.#wallet = wallet
    this.#outputs = outputs
  }

  /** Takes outputs of at least `target` satoshi together, all of them when there is less; their satoshi. */
  take(target: bigint): bigint {
    for (; this.#total < target; this.#count++) {
      const output = this.#outputs[this.#count]
      if (output === undefined) break
      this.#total += output.value
    }
    return this.#total
  }

  /** What was taken. */
  get taken(): readonly SpendableOutput[] {
    return this.#outputs.slice(0, this.#count)
  }

  /** The inputs that spend it. Throws a RangeError for an output that the federation cannot spend. */
  get spent(): readonly Spent[] {
    for (const output of this.#outputs.slice(this.#spent.length, this.#count)) {
      const spent = spentBy(this.#wallet.fund(output))
      this.#spent.push(spent)
      this.#signing += signingSize(spent)
    }
    return this.#spent
  }

  /** Their sizes. Throws like `spent`. */
  get sizes(): InputSizes {
    return { count: this.spent.length, signing: this.#signing }
  }
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
  { payments, change, isPaidByReceivers }: ReleasePlan,
  selector: Selector,
  fee: bigint,
): Attempt | BuildFailure {
  const outputs = isPaidByReceivers ? reduced(payments, fee) : payments
  if (isPaidByReceivers && outputs.some(isDust)) return 'output too small for its fee'
  const target = sumOf(payments) + (isPaidByReceivers ? 0n : fee)
  const left = selector.take(target) - target
  if (left < 0n) return 'insufficient money'
  if (left === 0n) return { outputs, fee }
  const remainder = { value: left, script: change }
  if (isPaidByReceivers) {
    const raised = withRaisedChange(outputs, remainder)
    return typeof raised === 'string' ? raised : { outputs: raised, fee }
  }
  if (isDust(remainder)) return { outputs, fee: fee + left }
  return { outputs: [...outputs, remainder], fee }
}

/** Raises the fee until it covers the transaction that it pays for. */
function settleFee(plan: ReleasePlan, selector: Selector): Attempt | BuildFailure {
  const { format } = plan.wallet.federation
  const price = plan.feePerKb < LEAST_FEE ? LEAST_FEE : plan.feePerKb
  let fee = 0n
  for (;;) {
    const made = attempt(plan, selector, fee)
    if (typeof made === 'string') return made
    const needed = (price * feeSize(made.outputs, selector.sizes, format)) / 1000n
    if (made.fee >= needed) return made
    fee = needed
  }
}

/** Makes a transaction; a word when it cannot be made. Throws a RangeError for an output that the federation cannot spend. */
export function buildRelease(plan: ReleasePlan): Release | BuildFailure {
  const { wallet, payments, version } = plan
  if (payments.some(isDust)) return 'dust'
  const selector = new Selector(wallet, inSpendingOrder(wallet, sumOf(payments)))
  const made = settleFee(plan, selector)
  if (typeof made === 'string') return made
  const { taken, spent } = selector
  const draft = draftOf(version, spent, made.outputs)
  const transaction = unsignedRelease(draft, spent, wallet.federation.format)
  return transaction === undefined ? 'too large' : { transaction, spent: taken }
}
