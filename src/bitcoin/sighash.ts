/** What signatures of inputs sign, with type ALL. Raw order. */
import { concat, EMPTY, join } from '../encoding/bytes.ts'
import { doubleSha256 } from '../encoding/hash.ts'
import { OP, parseScript, writeChunks } from './script.ts'
import { byteString, uint32, uint64 } from './serialization.ts'
import { encodeOutput, encodeTransaction, type Transaction } from './transaction.ts'

/** The type that signs all inputs and outputs, as a signature's last byte has it. */
export const SIGHASH_ALL = 1

function withoutCodeSeparators(script: Uint8Array): Uint8Array {
  return script.includes(OP.CODESEPARATOR)
    ? writeChunks(parseScript(script).filter(({ opcode }) => opcode !== OP.CODESEPARATOR))
    : script
}

/**
 * The hash before BIP-143: the transaction with `script` (of the output that is spent, or the redeem script) in the input
 * and nothing in the others. Witnesses, which Bitcoin does not sign so, are hashed if the transaction has any.
 */
export function legacySighash(transaction: Transaction, index: number, script: Uint8Array): Uint8Array {
  const code = withoutCodeSeparators(script)
  const inputs = transaction.inputs.map((input, i) => ({ ...input, script: i === index ? code : EMPTY }))
  return doubleSha256(concat(encodeTransaction({ ...transaction, inputs }), uint32(SIGHASH_ALL)))
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
