/** Partially signed transactions (BIP-174), version 0, before anything is signed. */
import { concat, EMPTY } from '../encoding/bytes.ts'
import { kindOf } from './chain/script-kind.ts'
import { byteString } from './serialization.ts'
import { encodeOutput, encodeStripped, type Output, type Transaction } from './transaction.ts'

/** What a signer has to know of an input. */
export interface PsbtInput {
  readonly output: Output
  /** The script whose hash the output has, as far as known. */
  readonly redeem: Uint8Array | undefined
  /** The transaction of the output, as far as known. */
  readonly previous: Transaction | undefined
}

const MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff)
const END = Uint8Array.of(0)
/** Key types (BIP-174): of the whole, and of an input. */
const UNSIGNED_TRANSACTION = 0x00
const INPUT = { previous: 0x00, witnessOutput: 0x01, redeemScript: 0x04, witnessScript: 0x05 } as const

function entry(type: number, value: Uint8Array | undefined): Uint8Array {
  return value === undefined ? EMPTY : concat(byteString(Uint8Array.of(type)), byteString(value))
}

/** The script behind the hash of the output, and what of it is in the witness. */
function scriptsOf({ output, redeem }: PsbtInput): { redeem?: Uint8Array; witness?: Uint8Array } {
  if (redeem === undefined) return {}
  return kindOf(output.script).kind === 'scripthash' ? { redeem } : { witness: redeem }
}

function encodeInput(input: PsbtInput): Uint8Array {
  const { output, previous } = input
  const scripts = scriptsOf(input)
  const isWitness = [output.script, scripts.redeem ?? EMPTY].some((script) =>
    kindOf(script).kind.startsWith('witness'),
  )
  return concat(
    entry(INPUT.previous, previous && encodeStripped(previous)),
    entry(INPUT.witnessOutput, isWitness ? encodeOutput(output) : undefined),
    entry(INPUT.redeemScript, scripts.redeem),
    entry(INPUT.witnessScript, scripts.witness),
    END,
  )
}

/** The bytes. `inputs` are those of the transaction, in order; nothing is told of its outputs. */
export function encodePsbt(transaction: Transaction, inputs: readonly PsbtInput[]): Uint8Array {
  const unsigned = {
    ...transaction,
    inputs: transaction.inputs.map((input) => ({ ...input, script: EMPTY, witness: [] })),
  }
  return concat(
    MAGIC,
    entry(UNSIGNED_TRANSACTION, encodeStripped(unsigned)),
    END,
    ...inputs.map(encodeInput),
    ...transaction.outputs.map(() => END),
  )
}
