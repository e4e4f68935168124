/** What signatures sign, for every type: the hash of the first transactions, and that of witnesses (BIP-143). Raw order. */
import { concat, EMPTY } from '../../encoding/bytes.ts'
import { doubleSha256, HASH_BYTES } from '../../encoding/hash.ts'
import { OP } from '../script.ts'
import { byteString, uint32, uint64 } from '../serialization.ts'
import { encodeOutput, encodeStripped, type Input, type Output, type Transaction } from '../transaction.ts'
import { operationAt } from './opcodes.ts'
import { SIGHASH } from './signature-encoding.ts'

const ZEROS = new Uint8Array(HASH_BYTES)
/** What is signed instead of a hash where the output of SINGLE does not exist: the number 1. */
const ONE = Uint8Array.of(1, ...ZEROS.subarray(1))
const NO_OUTPUT: Output = { value: -1n, script: EMPTY }

/** The script without OP_CODESEPARATOR; what follows a push that does not end stays. */
function withoutSeparators(script: Uint8Array): Uint8Array {
  if (!script.includes(OP.CODESEPARATOR)) return script
  const parts: Uint8Array[] = []
  let kept = 0
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at)
    if (operation === undefined) break
    if (operation.opcode === OP.CODESEPARATOR) {
      parts.push(script.subarray(kept, at))
      kept = operation.next
    }
    at = operation.next
  }
  return concat(...parts, script.subarray(kept))
}

/** The hash that a signature of an input outside of witnesses signs. `type`: 32 bits. */
export function legacyHash(
  transaction: Transaction,
  index: number,
  scriptCode: Uint8Array,
  type: number,
): Uint8Array {
  const base = type & 0x1f
  const { inputs, outputs } = transaction
  const signed = inputs[index]
  if (signed === undefined || (base === SIGHASH.SINGLE && index >= outputs.length)) return ONE
  const isPartial = base === SIGHASH.SINGLE || base === SIGHASH.NONE
  const blanked = inputs.map((input, i): Input => {
    if (i === index) return { ...input, script: withoutSeparators(scriptCode) }
    return { ...input, script: EMPTY, sequence: isPartial ? 0 : input.sequence }
  })
  const isAlone = (type & SIGHASH.ANYONECANPAY) !== 0
  const single = () => outputs.slice(0, index + 1).map((output, i) => (i === index ? output : NO_OUTPUT))
  const changed: Transaction = {
    ...transaction,
    inputs: isAlone ? blanked.slice(index, index + 1) : blanked,
    outputs: base === SIGHASH.NONE ? [] : base === SIGHASH.SINGLE ? single() : outputs,
  }
  return doubleSha256(concat(encodeStripped(changed), uint32(type)))
}

/** Hashes that all inputs of a transaction share, each computed once. */
export class WitnessHashes {
  readonly #transaction: Transaction
  #outpoints: Uint8Array | undefined
  #sequences: Uint8Array | undefined
  #outputs: Uint8Array | undefined

  constructor(transaction: Transaction) {
    this.#transaction = transaction
  }

  get outpoints(): Uint8Array {
    const { inputs } = this.#transaction
    this.#outpoints ??= doubleSha256(concat(...inputs.map(({ hash, index }) => concat(hash, uint32(index)))))
    return this.#outpoints
  }

  get sequences(): Uint8Array {
    const { inputs } = this.#transaction
    this.#sequences ??= doubleSha256(concat(...inputs.map(({ sequence }) => uint32(sequence))))
    return this.#sequences
  }

  get outputs(): Uint8Array {
    this.#outputs ??= doubleSha256(concat(...this.#transaction.outputs.map(encodeOutput)))
    return this.#outputs
  }
}

/** The hash that a signature in a witness of version 0 signs (BIP-143); `value`: satoshi of the output that is spent. */
export function witnessHash(
  transaction: Transaction,
  index: number,
  scriptCode: Uint8Array,
  type: number,
  value: bigint,
  shared = new WitnessHashes(transaction),
): Uint8Array {
  const input = transaction.inputs[index]
  if (input === undefined) throw new RangeError(`the transaction has no input ${index}`)
  const base = type & 0x1f
  const isAlone = (type & SIGHASH.ANYONECANPAY) !== 0
  const signsSequences = !isAlone && base !== SIGHASH.SINGLE && base !== SIGHASH.NONE
  const own = transaction.outputs[index]
  const single = base === SIGHASH.SINGLE && own !== undefined ? doubleSha256(encodeOutput(own)) : ZEROS
  const signsOutputs = base !== SIGHASH.SINGLE && base !== SIGHASH.NONE
  return doubleSha256(
    concat(
      uint32(transaction.version),
      isAlone ? ZEROS : shared.outpoints,
      signsSequences ? shared.sequences : ZEROS,
      input.hash,
      uint32(input.index),
      byteString(scriptCode),
      uint64(value),
      uint32(input.sequence),
      signsOutputs ? shared.outputs : single,
      uint32(transaction.lockTime),
      uint32(type),
    ),
  )
}
