/** What a transaction of a federation costs: its size once it is signed, and which outputs are too small to be spent. */
import { parseRedeem, type Redeem } from '../../../../bitcoin/redeem-script-parser.ts'
import { compactSizeLength } from '../../../../bitcoin/serialization.ts'
import {
  encodeOutput,
  encodeTransaction,
  FINAL_SEQUENCE,
  type Input,
  type Output,
} from '../../../../bitcoin/transaction.ts'
import { EMPTY } from '../../../../encoding/bytes.ts'
import { type FederationFormat, FORMAT } from '../constants/network.ts'
import type { SpendableOutput } from '../storage/outputs.ts'

/** An output and the script that spends it. */
export interface Funds {
  readonly output: SpendableOutput
  readonly redeemScript: Uint8Array
}

/** An input without scripts, and what will sign it. */
export interface Spent {
  readonly input: Input
  readonly redeem: Redeem
}

/** Bytes of a signature as fees are computed. */
const SIGNATURE_BYTES = 75n
/** Bytes of an input without a script: outpoint, length of the script, sequence. */
const INPUT_BYTES = 41
/** Bytes of the script of an input whose signatures are in the witness. */
const WITNESS_INPUT_BYTES = 36
/** Least fee per thousand bytes, and of a transaction that sweeps a wallet; satoshi. */
export const LEAST_FEE = 5_000n
/** An output is dust below the fee, at this price per thousand bytes, of it and of an input that spends it. */
const DUST_PRICE = 15_000n
const SPENDING_BYTES = 148n

/** The input that spends an output. Throws a RangeError for a script that no federation has. */
export function spentBy({ output: { hash, index }, redeemScript }: Funds): Spent {
  const redeem = parseRedeem(redeemScript)
  if (redeem === undefined) throw new RangeError('a script that is no script of a federation')
  return { input: { hash, index, script: EMPTY, sequence: FINAL_SEQUENCE, witness: [] }, redeem }
}

/** What inputs add to the size of a transaction. */
export interface InputSizes {
  readonly count: number
  /** Bytes of all their signatures and scripts. */
  readonly signing: bigint
}

/** Bytes of the signatures and the script of an input. */
export function signingSize({ redeem }: Spent): bigint {
  return BigInt(redeem.required) * SIGNATURE_BYTES + BigInt(redeem.script.length)
}

/** Bytes by which the fee is computed of a transaction whose inputs have no scripts yet; virtual ones of the witness format (BIP-141). */
export function feeSize(
  outputs: readonly Output[],
  { count, signing }: InputSizes,
  format: FederationFormat,
): bigint {
  const frame = encodeTransaction({ version: 0, inputs: [], outputs, lockTime: 0 }).length
  const bytes = BigInt(frame - 1 + compactSizeLength(count) + INPUT_BYTES * count)
  if (format !== FORMAT.witness) return bytes + signing
  const base = bytes + BigInt(WITNESS_INPUT_BYTES * count)
  return (4n * base + signing) / 4n
}

/** Least value of an output that is not dust, satoshi. */
export function dustLimit(script: Uint8Array): bigint {
  const { length } = encodeOutput({ value: 0n, script })
  return (DUST_PRICE * (BigInt(length) + SPENDING_BYTES)) / 1000n
}

/** Is an output too small for the parent chain's nodes to relay it? */
export function isDust({ value, script }: Output): boolean {
  return value < dustLimit(script)
}
