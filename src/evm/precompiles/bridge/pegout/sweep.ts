/** A transaction of the parent chain that spends outputs of a federation whole, without change. */
import type { Transaction } from '../../../../bitcoin/transaction.ts'
import type { FederationFormat } from '../constants/network.ts'
import { type Funds, feeSize, isDust, LEAST_FEE, spentBy } from './fees.ts'
import { draftOf, unsignedRelease } from './unsigned.ts'

/** How a release is made. */
export interface ReleaseParts {
  readonly format: FederationFormat
  /** Satoshi per thousand bytes. */
  readonly feePerKb: bigint
  readonly version: number
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
  const draft = draftOf(version, spent, [{ value: sum, script }])
  const fee = (feePerKb * feeSize(draft, spent, format)) / 1000n
  const output = { value: sum - (fee < LEAST_FEE ? LEAST_FEE : fee), script }
  if (isDust(output)) return undefined
  return unsignedRelease({ ...draft, outputs: [output] }, spent, format)
}
