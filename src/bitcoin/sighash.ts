/** What signatures of inputs sign, with type ALL. Raw order. */
import { concat, EMPTY, join } from '../encoding/bytes.ts'
import { doubleSha256 } from '../encoding/hash.ts'
import { OP, parseScript, writeChunks } from './script.ts'
import { byteString, uint32, uint64 } from './serialization.ts'
import { encodeOutput, encodeTransaction, type Output, type Transaction } from './transaction.ts'

/** The type that signs all inputs and outputs, as a signature's last byte has it. */
export const SIGHASH_ALL = 1

function withoutCodeSeparators(script: Uint8Array): Uint8Array {
  return script.includes(OP.CODESEPARATOR)
    ? writeChunks(parseScript(script).filter(({ opcode }) => opcode !== OP.CODESEPARATOR))
    : script
}

/** In the low five bits of another type: sign no output, or only the one at the input's position. */
const SIGHASH_NONE = 2
const SIGHASH_SINGLE = 3
const SIGHASH_MASK = 0x1f
/** Flag of a type: sign no other input. */
const SIGHASH_ANYONE_CAN_PAY = 0x80

const NO_VALUE = -1n

/** The outputs that a type signs for an input; all for an unknown type. */
function signedOutputs(outputs: readonly Output[], index: number, type: number): readonly Output[] {
  if ((type & SIGHASH_MASK) === SIGHASH_NONE) return []
  if ((type & SIGHASH_MASK) !== SIGHASH_SINGLE) return outputs
  return outputs
    .slice(0, index + 1)
    .map((output, i) => (i === index ? output : { value: NO_VALUE, script: EMPTY }))
}

/** The hash that is signed, with type SINGLE, by an input without an output at its position. */
const NO_OUTPUT_HASH = Uint8Array.of(1, ...new Uint8Array(31))

/**
 * The hash before BIP-143: the transaction with `script` (of the output that is spent, or the redeem script) in the input
 * and nothing in the others. Witnesses, which Bitcoin does not sign so, are hashed if the transaction has any, as in the
 * reference node. Throws a RangeError without such an input.
 */
export function legacySighash(
  transaction: Transaction,
  index: number,
  script: Uint8Array,
  type: number = SIGHASH_ALL,
): Uint8Array {
  const { outputs } = transaction
  const signed = transaction.inputs[index]
  if (signed === undefined) throw new RangeError(`the transaction has no input ${index}`)
  if ((type & SIGHASH_MASK) === SIGHASH_SINGLE && index >= outputs.length) return NO_OUTPUT_HASH
  const code = withoutCodeSeparators(script)
  const isForAll = (type & SIGHASH_MASK) !== SIGHASH_NONE && (type & SIGHASH_MASK) !== SIGHASH_SINGLE
  const inputs =
    (type & SIGHASH_ANYONE_CAN_PAY) === 0
      ? transaction.inputs.map((input, i) =>
          i === index
            ? { ...input, script: code }
            : { ...input, script: EMPTY, sequence: isForAll ? input.sequence : 0 },
        )
      : [{ ...signed, script: code, witness: transaction.inputs[0]?.witness ?? [] }]
  const content = { ...transaction, inputs, outputs: signedOutputs(outputs, index, type) }
  return doubleSha256(concat(encodeTransaction(content), uint32(type)))
}

/** The hash of BIP-143 for an input that spends `value` satoshi by the script code. Throws a RangeError without such an input. */
export function witnessSighash(
  transaction: Transaction,
  index: number,
  scriptCode: Uint8Array,
  value: bigint,
): Uint8Array {
  const { version, inputs, outputs, lockTime } = transaction
  const input = inputs[index]
  if (input === undefined) throw new RangeError(`the transaction has no input ${index}`)
  const outpoints = inputs.map(({ hash, index }) => concat(hash, uint32(index)))
  return doubleSha256(
    concat(
      uint32(version),
      doubleSha256(join(outpoints)),
      doubleSha256(join(inputs.map(({ sequence }) => uint32(sequence)))),
      input.hash,
      uint32(input.index),
      byteString(scriptCode),
      uint64(value),
      uint32(input.sequence),
      doubleSha256(join(outputs.map(encodeOutput))),
      uint32(lockTime),
      uint32(SIGHASH_ALL),
    ),
  )
}
