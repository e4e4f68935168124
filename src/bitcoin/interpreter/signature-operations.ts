/** Counts checks of signatures in scripts, which blocks may have only so many of. */
import { isPayToScriptHash } from '../output-script.ts'
import { MAX_KEYS } from '../redeem-script.ts'
import { OP } from '../script.ts'
import type { Transaction } from '../transaction.ts'
import { isPushOnly, OP_RESERVED, opcode, operationsOf } from './opcodes.ts'
import { witnessProgramOf } from './verification.ts'

const SINGLE: ReadonlySet<number> = new Set([OP.CHECKSIG, opcode('CHECKSIGVERIFY')])
const MULTIPLE: ReadonlySet<number> = new Set([OP.CHECKMULTISIG, OP.CHECKMULTISIGVERIFY])

/** Weight of a check outside of witnesses, as of a byte there (BIP-141). */
const LEGACY_COST = 4

/** Checks in a script; a multiple one has as many as keys may be, or, where it `isExact`, as the number in front says. */
export function countChecks(script: Uint8Array, isExact: boolean): number {
  let count = 0
  let last = 0xff
  for (const { opcode: code } of operationsOf(script)) {
    if (SINGLE.has(code)) count++
    else if (MULTIPLE.has(code))
      count += isExact && last >= OP[1] && last <= OP[16] ? last - OP_RESERVED : MAX_KEYS
    last = code
  }
  return count
}

/** What a script pushes last. */
function lastPush(script: Uint8Array): Uint8Array | undefined {
  let last: Uint8Array | undefined
  for (const { data } of operationsOf(script)) last = data
  return last
}

function checksBehindHash(unlocking: Uint8Array): number {
  const script = isPushOnly(unlocking) ? lastPush(unlocking) : undefined
  return script === undefined ? 0 : countChecks(script, true)
}

function witnessChecks(locking: Uint8Array, unlocking: Uint8Array, witness: readonly Uint8Array[]): number {
  const behind = isPayToScriptHash(locking) && isPushOnly(unlocking) ? lastPush(unlocking) : locking
  const program = behind === undefined ? undefined : witnessProgramOf(behind)
  if (program?.version !== 0) return 0
  if (program.program.length === 20) return 1
  const script = witness.at(-1)
  return program.program.length === 32 && script !== undefined ? countChecks(script, true) : 0
}

/** Checks of a transaction outside of the scripts that it spends. */
export function legacyChecks({ inputs, outputs }: Transaction): number {
  const all = [...inputs, ...outputs]
  return all.reduce((sum, { script }) => sum + countChecks(script, false), 0)
}

/** Cost of all checks of a transaction (BIP-141). `spent`: scripts of the outputs that it spends; none of a coinbase. */
export function signatureOperationCost(transaction: Transaction, spent: readonly Uint8Array[]): number {
  return spent.reduce((cost, locking, i) => {
    const { script = new Uint8Array(), witness = [] } = transaction.inputs[i] ?? {}
    const behind = isPayToScriptHash(locking) ? checksBehindHash(script) * LEGACY_COST : 0
    return cost + behind + witnessChecks(locking, script, witness)
  }, legacyChecks(transaction) * LEGACY_COST)
}
