/** A transaction of the parent chain that spends outputs of a federation whole, without change. */
import { baseScript, baseWitness } from '../../../../bitcoin/base-input.ts'
import { encodeTransaction } from '../../../../bitcoin/transaction.ts'
import { type FederationFormat, FORMAT } from '../constants/network.ts'
import type { Release } from './builder.ts'
import { type Funds, feeSize, isDust, LEAST_FEE, MAX_RELEASE_BYTES, spentBy } from './fees.ts'

/** How the transaction is made. */
export interface SweepParts {
  readonly format: FederationFormat
  /** Satoshi per thousand bytes. */
  readonly feePerKb: bigint
  readonly version: number
}

/**
 * Spends all of it to a script, less the fee; `undefined` when that leaves dust, or takes too many bytes. Outputs of coinbase
 * transactions are left out.
 */
export function sweep(
  funds: readonly Funds[],
  script: Uint8Array,
  { format, feePerKb, version }: SweepParts,
): Release | undefined {
  const candidates = funds.filter(({ output }) => !output.isCoinbase)
  const spent = candidates.map(spentBy)
  const sum = candidates.reduce((total, { output }) => total + output.value, 0n)
  const draft = {
    version,
    inputs: spent.map(({ input }) => input),
    outputs: [{ value: sum, script }],
    lockTime: 0,
  }
  const fee = (feePerKb * feeSize(draft, spent, format)) / 1000n
  const output = { value: sum - (fee < LEAST_FEE ? LEAST_FEE : fee), script }
  if (isDust(output)) return undefined
  const unlock = format === FORMAT.witness ? baseWitness : baseScript
  const transaction = {
    ...draft,
    inputs: spent.map(({ input, redeem }) => ({ ...input, ...unlock(redeem) })),
    outputs: [output],
  }
  // The limit is checked with the scripts of inputs, but without witnesses, which are added later.
  const { length } = encodeTransaction(format === FORMAT.witness ? draft : transaction)
  return length > MAX_RELEASE_BYTES
    ? undefined
    : { transaction, spent: candidates.map(({ output }) => output) }
}
