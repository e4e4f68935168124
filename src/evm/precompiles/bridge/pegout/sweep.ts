/** A transaction of the parent chain that spends outputs of a federation whole, without change. */
import { baseScript, baseWitness } from '../../../../bitcoin/base-input.ts'
import { parseRedeem, type Redeem } from '../../../../bitcoin/redeem-script-parser.ts'
import {
  encodeOutput,
  encodeTransaction,
  FINAL_SEQUENCE,
  type Input,
  type Transaction,
} from '../../../../bitcoin/transaction.ts'
import { EMPTY } from '../../../../encoding/bytes.ts'
import { type FederationFormat, FORMAT } from '../constants/network.ts'
import type { SpendableOutput } from '../storage/outputs.ts'

/** An output and the script that spends it. */
export interface Funds {
  readonly output: SpendableOutput
  readonly redeemScript: Uint8Array
}

/** How a release is made. */
export interface ReleaseParts {
  readonly format: FederationFormat
  /** Satoshi. */
  readonly feePerKb: bigint
  readonly version: number
}

/** Bytes of a signature as fees are computed. */
const SIGNATURE_BYTES = 75n
/** Bytes of the script of an input whose signatures are in the witness. */
const WITNESS_INPUT_BYTES = 36
/** Least fee, satoshi. */
const LEAST_FEE = 5_000n
/** An output is dust below the fee, at this price per thousand bytes, of it and of an input that spends it. */
const DUST_PRICE = 15_000n
const SPENDING_BYTES = 148n
/** Largest transaction that the parent chain's nodes relay. */
const MAX_BYTES = 100_000

interface Spent {
  readonly input: Input
  readonly redeem: Redeem
}

function spentBy({ output: { hash, index }, redeemScript }: Funds): Spent {
  const redeem = parseRedeem(redeemScript)
  if (redeem === undefined) throw new RangeError('a script that is no script of a federation')
  return { input: { hash, index, script: EMPTY, sequence: FINAL_SEQUENCE, witness: [] }, redeem }
}

/** The size by which the fee is computed, virtual bytes for the witness format (BIP-141). */
function feeSize(transaction: Transaction, spent: readonly Spent[], format: FederationFormat): bigint {
  const bytes = BigInt(encodeTransaction(transaction).length)
  const signing = spent.reduce(
    (sum, { redeem }) => sum + BigInt(redeem.required) * SIGNATURE_BYTES + BigInt(redeem.script.length),
    0n,
  )
  if (format !== FORMAT.witness) return bytes + signing
  const base = bytes + BigInt(WITNESS_INPUT_BYTES * spent.length)
  return (4n * base + signing) / 4n
}

function isDust(value: bigint, script: Uint8Array): boolean {
  const { length } = encodeOutput({ value: 0n, script })
  return value < (DUST_PRICE * (BigInt(length) + SPENDING_BYTES)) / 1000n
}

/** The unsigned transaction; `undefined` when the fee leaves too little, or when it is too large. */
export function sweep(
  funds: readonly Funds[],
  script: Uint8Array,
  { format, feePerKb, version }: ReleaseParts,
): Transaction | undefined {
  const candidates = funds.filter(({ output }) => !output.isCoinbase)
  const spent = candidates.map(spentBy)
  const sum = candidates.reduce((total, { output }) => total + output.value, 0n)
  const inputs = spent.map(({ input }) => input)
  const draft = { version, inputs, outputs: [{ value: sum, script }], lockTime: 0 }
  const fee = (feePerKb * feeSize(draft, spent, format)) / 1000n
  const value = sum - (fee < LEAST_FEE ? LEAST_FEE : fee)
  if (isDust(value, script)) return undefined
  const unlock = format === FORMAT.witness ? baseWitness : baseScript
  const release = {
    ...draft,
    inputs: spent.map(({ input, redeem }) => ({ ...input, ...unlock(redeem) })),
    outputs: [{ value, script }],
  }
  // The limit is checked with the scripts of inputs, but without witnesses, which are added later.
  const checked = format === FORMAT.witness ? { ...draft, outputs: release.outputs } : release
  return encodeTransaction(checked).length > MAX_BYTES ? undefined : release
}
