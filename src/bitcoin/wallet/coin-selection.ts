/** Chooses coins for outputs and adds what is left over as change. */

import { EMPTY } from '../../encoding/bytes.ts'
import { transactionSizes } from '../chain/block.ts'
import { dustLimit, feeFor } from '../chain/policy.ts'
import { WITNESS_SCALE } from '../chain/regtest.ts'
import { kindOf } from '../chain/script-kind.ts'
import { fromDisplayed } from '../displayed-hash.ts'
import { compactSize } from '../serialization.ts'
import type { Input, Output, Transaction } from '../transaction.ts'

/** Signals that the transaction may be replaced (BIP-125). */
const REPLACEABLE_SEQUENCE = 0xfffffffd

/** A coin to choose, and the script whose hash its output has, if known. */
export interface Candidate {
  readonly id: string
  readonly index: number
  readonly output: Output
  readonly redeem?: Uint8Array | undefined
  /** Of an input that is given already. */
  readonly sequence?: number
}

/** Bytes of a signature in DER with low R and S, its type, and the push. */
const SIGNATURE = 72
const KEY_PUSH = 34

function multisigBytes(script: Uint8Array): number {
  const { required = 1 } = kindOf(script)
  return 1 + required * SIGNATURE
}

/** Weight that the script and witness of an input add to an empty script. */
function unlockingWeight({ output, redeem }: Candidate): number {
  const { kind } = kindOf(output.script)
  if (kind === 'witness_v0_keyhash') return 1 + SIGNATURE + KEY_PUSH
  if (kind === 'pubkeyhash') return WITNESS_SCALE * (SIGNATURE + KEY_PUSH)
  if (kind === 'pubkey') return WITNESS_SCALE * SIGNATURE
  if (kind === 'multisig') return WITNESS_SCALE * multisigBytes(output.script)
  if (redeem === undefined) return WITNESS_SCALE * 2 * (SIGNATURE + KEY_PUSH)
  const inner = kindOf(redeem)
  const isBehindHash = kind === 'scripthash'
  if (inner.kind === 'witness_v0_keyhash') return WITNESS_SCALE * 23 + 1 + SIGNATURE + KEY_PUSH
  const items = multisigBytes(redeem) + compactSize(redeem.length).length + redeem.length
  return isBehindHash ? WITNESS_SCALE * (items + 2) : items + 1
}

/** Virtual bytes of the transaction once it is signed. */
export function signedBytes(transaction: Transaction, inputs: readonly Candidate[]): number {
  const blank = {
    ...transaction,
    inputs: transaction.inputs.map((input) => ({ ...input, script: EMPTY, witness: [] })),
  }
  const weight = inputs.reduce((sum, input) => sum + unlockingWeight(input), transactionSizes(blank).weight)
  const hasWitness = inputs.some((input) => unlockingWeight(input) % WITNESS_SCALE !== 0)
  return Math.ceil((weight + (hasWitness ? 2 + inputs.length : 0)) / WITNESS_SCALE)
}

/** What to pay, with what, and how. */
export interface Funding {
  readonly outputs: readonly Output[]
  /** These are spent in any case. */
  readonly given: readonly Candidate[]
  /** More of these are spent as needed, the largest first. */
  readonly candidates: readonly Candidate[]
  /** Satoshi for 1,000 virtual bytes. */
  readonly feeRate: bigint
  readonly changeScript: Uint8Array
  /** Places of the outputs that pay the fee in equal parts; none: it comes from the change. */
  readonly feePayers: readonly number[]
  /** Where the change goes; absent: last. */
  readonly changePosition?: number
  readonly version?: number
  readonly lockTime?: number
  readonly isReplaceable?: boolean
}

/** A transaction without signatures. */
export interface Funded {
  readonly transaction: Transaction
  readonly inputs: readonly Candidate[]
  /** Satoshi. */
  readonly fee: bigint
  /** -1 without change. */
  readonly changePosition: number
}

const sum = (outputs: readonly Output[]) => outputs.reduce((all, { value }) => all + value, 0n)

function inputOf({ id, index, sequence }: Candidate, isReplaceable: boolean): Input {
  const byDefault = isReplaceable ? REPLACEABLE_SEQUENCE : 0xfffffffe
  return { hash: fromDisplayed(id), index, script: EMPTY, sequence: sequence ?? byDefault, witness: [] }
}

function build(funding: Funding, inputs: readonly Candidate[], outputs: readonly Output[]): Transaction {
  const { version = 2, lockTime = 0, isReplaceable = true } = funding
  return { version, inputs: inputs.map((input) => inputOf(input, isReplaceable)), outputs, lockTime }
}

/** The outputs, less their parts of the fee. */
function lessFee({ outputs, feePayers }: Funding, fee: bigint): readonly Output[] {
  const count = BigInt(feePayers.length)
  if (count === 0n) return outputs
  const first = feePayers[0]
  return outputs.map((output, i) => {
    if (!feePayers.includes(i)) return output
    const rest = i === first ? fee % count : 0n
    return { ...output, value: output.value - fee / count - rest }
  })
}

/** The transaction that these inputs pay for; `undefined` when they do not suffice. */
function fundedBy(funding: Funding, inputs: readonly Candidate[]): Funded | undefined {
  const available = sum(inputs.map(({ output }) => output))
  const wanted = sum(funding.outputs)
  const paysItself = funding.feePayers.length === 0
  const feeOf = (outputs: readonly Output[]) =>
    feeFor(signedBytes(build(funding, inputs, outputs), inputs), funding.feeRate)
  const position = funding.changePosition ?? funding.outputs.length
  const withChange = (value: bigint, outputs: readonly Output[]) =>
    outputs.toSpliced(position, 0, { value, script: funding.changeScript })
  const fee = feeOf(withChange(0n, funding.outputs))
  const change = available - wanted - (paysItself ? fee : 0n)
  if (change >= dustLimit({ value: change, script: funding.changeScript })) {
    const transaction = build(funding, inputs, withChange(change, lessFee(funding, fee)))
    return { transaction, inputs, fee, changePosition: position }
  }
  const bare = feeOf(funding.outputs)
  if (available < wanted + (paysItself ? bare : 0n)) return undefined
  const outputs = lessFee(funding, bare > available - wanted ? bare - (available - wanted) : 0n)
  const transaction = build(funding, inputs, outputs)
  return { transaction, inputs, fee: available - sum(outputs), changePosition: -1 }
}

/** Chooses inputs; `undefined` when all together do not suffice. */
export function fund(funding: Funding): Funded | undefined {
  const { given, candidates } = funding
  const key = ({ id, index }: Candidate) => `${id}:${index}`
  const isGiven = new Set(given.map(key))
  const byValue = candidates
    .filter((candidate) => !isGiven.has(key(candidate)))
    .toSorted((a, b) => (a.output.value < b.output.value ? 1 : a.output.value > b.output.value ? -1 : 0))
  const wanted = sum(funding.outputs)
  let available = sum(given.map(({ output }) => output))
  for (let more = 0; more <= byValue.length; available += byValue[more++]?.output.value ?? 0n) {
    if (available < wanted) continue
    const inputs = [...given, ...byValue.slice(0, more)]
    const funded = inputs.length === 0 ? undefined : fundedBy(funding, inputs)
    if (funded !== undefined) return funded
  }
  return undefined
}
