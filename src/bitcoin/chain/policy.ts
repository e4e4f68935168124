/** What the mempool accepts beyond the rules for blocks: Bitcoin Core's policy, data outputs as Core 30 has them. */

import { isPushOnly, operationsOf } from '../interpreter/opcodes.ts'
import { countChecks } from '../interpreter/signature-operations.ts'
import { witnessProgramOf } from '../interpreter/verification.ts'
import { isPayToScriptHash } from '../output-script.ts'
import type { Output, Transaction } from '../transaction.ts'
import { encodeOutput } from '../transaction.ts'
import { transactionSizes } from './block.ts'
import type { Coin } from './coin.ts'
import { MAX_CHECKS_COST, WITNESS_SCALE } from './regtest.ts'
import { requireRule } from './rule-violation.ts'
import { kindOf } from './script-kind.ts'

/** Least fee, satoshi for 1,000 virtual bytes. */
export const RELAY_FEE = 1000n
/** Fee by which spending an output is measured, satoshi for 1,000 virtual bytes: who cannot pay it is dust. */
const DUST_FEE = 3000n
/** Transactions in a chain of unconfirmed ones, and their virtual bytes. */
export const CHAIN_LIMITS = { transactions: 25, bytes: 101_000 } as const

/** Of a transaction that is relayed. */
export const MAX_TRANSACTION_WEIGHT = 400_000
const MIN_STRIPPED = 65
const MAX_UNLOCKING = 1650
const MAX_HASH_CHECKS = 15
const WITNESS_SCRIPT = { bytes: 3600, items: 100, itemBytes: 80 } as const

/** The fee of so many virtual bytes at a rate of satoshi for 1,000, rounded up. */
export function feeFor(bytes: number, rate: bigint): bigint {
  return (BigInt(bytes) * rate + 999n) / 1000n
}

/** Bytes that spending an output takes. */
function spendingBytes({ script }: Output): number {
  const input = 32 + 4 + 1 + 107 + 4
  return witnessProgramOf(script) === undefined ? input : 32 + 4 + 1 + Math.floor(107 / WITNESS_SCALE) + 4
}

/** Least value of an output that is worth spending, satoshi. */
export function dustLimit(output: Output): bigint {
  if (kindOf(output.script).kind === 'nulldata') return 0n
  return (BigInt(encodeOutput(output).length + spendingBytes(output)) * DUST_FEE) / 1000n
}

/** Throws a `RuleViolation` for a transaction that is not standard by itself. */
export function checkStandard(transaction: Transaction): void {
  const { version, inputs, outputs } = transaction
  const { weight, stripped } = transactionSizes(transaction)
  requireRule(version === 1 || version === 2 || version === 3, 'version')
  requireRule(weight <= MAX_TRANSACTION_WEIGHT, 'tx-size')
  requireRule(stripped >= MIN_STRIPPED, 'tx-size-small')
  for (const { script } of inputs) {
    requireRule(script.length <= MAX_UNLOCKING, 'scriptsig-size')
    requireRule(isPushOnly(script), 'scriptsig-not-pushonly')
  }
  for (const output of outputs) {
    const { kind, keys = [] } = kindOf(output.script)
    requireRule(kind !== 'nonstandard' && (kind !== 'multisig' || keys.length <= 3), 'scriptpubkey')
    requireRule(output.value >= dustLimit(output), 'dust')
  }
}

function redeemScriptOf(script: Uint8Array): Uint8Array {
  let last = new Uint8Array()
  for (const { data } of operationsOf(script)) last = new Uint8Array(data)
  return last
}

function checkWitnessItems(locking: Uint8Array, witness: readonly Uint8Array[]): void {
  const program = witnessProgramOf(locking)
  const script = witness.at(-1)
  if (program?.version !== 0 || program.program.length !== 32 || script === undefined) return
  const items = witness.slice(0, -1)
  const isStandard =
    script.length <= WITNESS_SCRIPT.bytes &&
    items.length <= WITNESS_SCRIPT.items &&
    items.every(({ length }) => length <= WITNESS_SCRIPT.itemBytes)
  requireRule(isStandard, 'bad-witness-nonstandard')
}

/** Throws a `RuleViolation` when the transaction spends coins in a way that is not standard. */
export function checkStandardInputs({ inputs }: Transaction, coins: readonly Coin[]): void {
  for (const [i, { script: locking }] of coins.entries()) {
    const { script = new Uint8Array(), witness = [] } = inputs[i] ?? {}
    const { kind } = kindOf(locking)
    requireRule(kind !== 'nonstandard' && kind !== 'witness_unknown', 'bad-txns-nonstandard-inputs')
    const isBehindHash = isPayToScriptHash(locking)
    const redeem = isBehindHash ? redeemScriptOf(script) : locking
    if (isBehindHash) requireRule(countChecks(redeem, true) <= MAX_HASH_CHECKS, 'bad-txns-nonstandard-inputs')
    if (witness.length > 0) checkWitnessItems(redeem, witness)
  }
}

/** Most cost of signature checks of a transaction of the mempool. */
export const MAX_STANDARD_CHECKS_COST = MAX_CHECKS_COST / 5
