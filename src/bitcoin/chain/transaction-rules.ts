/** What must hold of a transaction by itself, and of its inputs and the coins that they spend; in Bitcoin Core's words. */
import { CONSENSUS_RULES } from '../interpreter/flags.ts'
import { ScriptFailure } from '../interpreter/script-failure.ts'
import { SignatureChecker } from '../interpreter/signature-checker.ts'
import { WitnessHashes } from '../interpreter/signature-hash.ts'
import { verifySpending } from '../interpreter/verification.ts'
import { encodeStripped, isCoinbase, MAX_MONEY, type Transaction } from '../transaction.ts'
import { type Coin, spentKey } from './coin.ts'
import { MATURITY, MAX_WEIGHT, WITNESS_SCALE } from './regtest.ts'
import { RuleViolation, requireRule } from './rule-violation.ts'

const NULL_OUTPUT = `${'0'.repeat(64)}ffffffff`
const COINBASE_SCRIPT = { least: 2, most: 100 } as const

function checkOutputs({ outputs }: Transaction): void {
  let total = 0n
  for (const { value } of outputs) {
    requireRule(value >= 0n, 'bad-txns-vout-negative')
    requireRule(value <= MAX_MONEY, 'bad-txns-vout-toolarge')
    total += value
    requireRule(total <= MAX_MONEY, 'bad-txns-txouttotal-toolarge')
  }
}

/** Throws a `RuleViolation` when the transaction is invalid in every block. */
export function checkForm(transaction: Transaction): void {
  const { inputs, outputs } = transaction
  requireRule(inputs.length > 0, 'bad-txns-vin-empty')
  requireRule(outputs.length > 0, 'bad-txns-vout-empty')
  requireRule(encodeStripped(transaction).length * WITNESS_SCALE <= MAX_WEIGHT, 'bad-txns-oversize')
  checkOutputs(transaction)
  const keys = inputs.map(spentKey)
  requireRule(new Set(keys).size === keys.length, 'bad-txns-inputs-duplicate')
  if (!isCoinbase(transaction)) {
    requireRule(!keys.includes(NULL_OUTPUT), 'bad-txns-prevout-null')
    return
  }
  const length = inputs[0]?.script.length ?? 0
  requireRule(length >= COINBASE_SCRIPT.least && length <= COINBASE_SCRIPT.most, 'bad-cb-length')
}

/** The fee, satoshi, of a transaction that spends these coins in a block of a height. Throws a `RuleViolation`. */
export function feeOf(transaction: Transaction, coins: readonly Coin[], height: number): bigint {
  let value = 0n
  for (const coin of coins) {
    const age = height - coin.height
    const isMature = !coin.isCoinbase || age >= MATURITY
    requireRule(isMature, 'bad-txns-premature-spend-of-coinbase', `tried to spend coinbase at depth ${age}`)
    value += coin.value
    requireRule(coin.value >= 0n && value <= MAX_MONEY, 'bad-txns-inputvalues-outofrange')
  }
  const spent = transaction.outputs.reduce((sum, output) => sum + output.value, 0n)
  requireRule(value >= spent, 'bad-txns-in-belowout', `value in (${value}) < value out (${spent})`)
  return value - spent
}

/** The failure of the first input whose scripts fail under the rules; `undefined` when none does. */
export function scriptFailureOf(
  transaction: Transaction,
  coins: readonly Coin[],
  rules: number,
): ScriptFailure | undefined {
  const shared = new WitnessHashes(transaction)
  for (const [i, coin] of coins.entries()) {
    const { script = new Uint8Array(), witness = [] } = transaction.inputs[i] ?? {}
    const checker = new SignatureChecker(transaction, i, coin.value, shared)
    try {
      verifySpending({ unlocking: script, locking: coin.script, witness }, rules, checker)
    } catch (error) {
      if (error instanceof ScriptFailure) return error
      throw error
    }
  }
  return undefined
}

/** Throws a `RuleViolation` when a script fails under the rules that every block must hold to. */
export function checkScripts(transaction: Transaction, coins: readonly Coin[]): void {
  const failure = scriptFailureOf(transaction, coins, CONSENSUS_RULES)
  if (failure === undefined) return
  throw new RuleViolation(`mandatory-script-verify-flag-failed (${failure.message})`)
}
