/** A transaction of the parent chain that spends outputs of a federation whole, without change. */
import type { FederationFormat } from '../constants/network.ts'
import type { Release } from './builder.ts'
import { type Funds, feeSize, isDust, LEAST_FEE, signingSize, spentBy } from './fees.ts'
import { draftOf, unsignedRelease } from './unsigned.ts'

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
  const draft = draftOf(version, spent, [{ value: sum, script }])
  const signing = spent.reduce((total, input) => total + signingSize(input), 0n)
  const fee = (feePerKb * feeSize(draft.outputs, { count: spent.length, signing }, format)) / 1000n
  const output = { value: sum - (fee < LEAST_FEE ? LEAST_FEE : fee), script }
  if (isDust(output)) return undefined
  const transaction = unsignedRelease({ ...draft, outputs: [output] }, spent, format)
  return transaction && { transaction, spent: candidates.map((funded) => funded.output) }
}
