/** Bitcoin transactions, with and without witness (BIP-141, BIP-144). Hashes are in raw order, the reverse of displayed ones. */
import { concat, equal } from '../encoding/bytes.ts'
import { doubleSha256, HASH_BYTES } from '../encoding/hash.ts'
import { toHex } from '../encoding/hex.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter, byteString, compactSizeLength, stringLength, uint64 } from './serialization.ts'

/** An input. */
export interface Input {
  /** Hash of the transaction whose output it spends, raw order. */
  readonly hash: Uint8Array
  /** Which output of that transaction, unsigned 32 bits. */
  readonly index: number
  readonly script: Uint8Array
  readonly sequence: number
  /** Its part of the witness; empty when it has none. */
  readonly witness: readonly Uint8Array[]
}

/** An output. */
export interface Output {
  /** Satoshi. */
  readonly value: bigint
  readonly script: Uint8Array
}

/** A transaction. */
export interface Transaction {
  readonly version: number
  readonly inputs: readonly Input[]
  readonly outputs: readonly Output[]
  readonly lockTime: number
}

/** Sequence of an input without time lock. */
export const FINAL_SEQUENCE = 0xffffffff

/** All coins that there can be, satoshi. */
export const MAX_MONEY = 2_100_000_000_000_000n

/** Bytes of the largest block without witnesses, and so of the largest transaction. */
const MAX_BYTES = 1_000_000
const COINBASE_SCRIPT_BYTES = { least: 2, most: 100 } as const
/** Least bytes of an input: outpoint, length of the script, sequence. */
const INPUT_BYTES = 41
/** Least bytes of an output: value, length of the script. */
const OUTPUT_BYTES = 9

const NO_HASH = new Uint8Array(HASH_BYTES)

function readInputs(reader: ByteReader): Omit<Input, 'witness'>[] {
  return Array.from({ length: reader.count(INPUT_BYTES) }, () => ({
    hash: reader.bytes(HASH_BYTES),
    index: reader.uint32(),
    script: reader.string(),
    sequence: reader.uint32(),
  }))
}

function readOutputs(reader: ByteReader): Output[] {
  return Array.from({ length: reader.count(OUTPUT_BYTES) }, () => ({
    value: reader.int64(),
    script: reader.string(),
  }))
}

function readWitness(reader: ByteReader): Uint8Array[] {
  return Array.from({ length: reader.count(1) }, () => reader.string())
}

/** A transaction and the bytes that it takes. Throws a RangeError when the bytes hold none; what follows it is not read. */
export function readTransaction(bytes: Uint8Array): { transaction: Transaction; size: number } {
  const reader = new ByteReader(bytes)
  const version = reader.uint32()
  let inputs = readInputs(reader)
  // No inputs mark a transaction with witness: the flags follow, then all fields.
  const flags = inputs.length === 0 ? reader.byte() : 0
  if (flags > 1) throw new RangeError('unknown optional data of a transaction')
  if (flags === 1) inputs = readInputs(reader)
  const isEmpty = inputs.length === 0 && flags === 0
  const outputs = isEmpty ? [] : readOutputs(reader)
  const transaction = {
    version,
    inputs: inputs.map((input) => ({ ...input, witness: flags === 1 ? readWitness(reader) : [] })),
    outputs,
    lockTime: reader.uint32(),
  }
  return { transaction, size: reader.position }
}

/** The transaction in bytes that hold nothing else is expected of; `readTransaction` without the size. */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  return readTransaction(bytes).transaction
}

/** Has any input a witness? */
export function hasWitness({ inputs }: Transaction): boolean {
  return inputs.some(({ witness }) => witness.length > 0)
}

/** Value and script as outputs have them, also within hashes for signatures. */
export function encodeOutput({ value, script }: Output): Uint8Array {
  return concat(uint64(value), byteString(script))
}

/** Bytes of a list after its count. */
function listLength<T>(list: readonly T[], lengthOf: (item: T) => number): number {
  return list.reduce((sum, item) => sum + lengthOf(item), compactSizeLength(list.length))
}

/** Version and lock time; with a witness, its mark and flags too. */
const FRAME_BYTES = 8
const MARK = Uint8Array.of(0, 1)

function encodedLength({ inputs, outputs }: Transaction, isWithWitness: boolean): number {
  const core =
    FRAME_BYTES +
    listLength(inputs, ({ script }) => INPUT_BYTES - 1 + stringLength(script)) +
    listLength(outputs, ({ script }) => OUTPUT_BYTES - 1 + stringLength(script))
  if (!isWithWitness) return core
  return inputs.reduce((sum, { witness }) => sum + listLength(witness, stringLength), core + MARK.length)
}

function encodeWith(transaction: Transaction, isWithWitness: boolean): Uint8Array {
  const { version, inputs, outputs, lockTime } = transaction
  const writer = new ByteWriter(encodedLength(transaction, isWithWitness))
  writer.uint32(version)
  if (isWithWitness) writer.raw(MARK)
  writer.compactSize(inputs.length)
  for (const { hash, index, script, sequence } of inputs) {
    writer.raw(hash)
    writer.uint32(index)
    writer.string(script)
    writer.uint32(sequence)
  }
  writer.compactSize(outputs.length)
  for (const { value, script } of outputs) {
    writer.uint64(value)
    writer.string(script)
  }
  for (const { witness } of isWithWitness ? inputs : []) {
    writer.compactSize(witness.length)
    for (const item of witness) writer.string(item)
  }
  writer.uint32(lockTime)
  return writer.bytes
}

/** The bytes, with the witness when any input has one. */
export function encodeTransaction(transaction: Transaction): Uint8Array {
  return encodeWith(transaction, hasWitness(transaction))
}

/** The bytes without witness. */
export function encodeStripped(transaction: Transaction): Uint8Array {
  return encodeWith(transaction, false)
}

/** Hash without the witness, raw order: what inputs and explorers name a transaction by. */
export function txid(transaction: Transaction): Uint8Array {
  return doubleSha256(encodeStripped(transaction))
}

/** Hash with the witness, raw order. */
export function wtxid(transaction: Transaction): Uint8Array {
  return doubleSha256(encodeTransaction(transaction))
}

/** The transaction without its witness. */
export function withoutWitness(transaction: Transaction): Transaction {
  return { ...transaction, inputs: transaction.inputs.map((input) => ({ ...input, witness: [] })) }
}

function isCoinbaseInput({ hash, index }: Input): boolean {
  return index === 0xffffffff && equal(hash, NO_HASH)
}

/** Does it make the coins of a block? */
export function isCoinbase({ inputs }: Transaction): boolean {
  const [input] = inputs
  return inputs.length === 1 && input !== undefined && isCoinbaseInput(input)
}

function checkOutpoints(inputs: readonly Input[]): void {
  const seen = new Set(inputs.map(({ hash, index }) => `${toHex(hash)}:${index}`))
  if (seen.size < inputs.length) throw new RangeError('two inputs spend the same output')
}

function checkValues(outputs: readonly Output[]): void {
  let sum = 0n
  for (const { value } of outputs) {
    if (value < 0n) throw new RangeError('an output has a negative value')
    sum += value
    if (sum > MAX_MONEY) throw new RangeError('the outputs have more coins than there are')
  }
}

/** What must hold of every transaction by itself. `size`: bytes of its serialization. Throws a RangeError. */
export function checkTransaction(transaction: Transaction, size: number): void {
  const { inputs, outputs } = transaction
  const [first] = inputs
  if (first === undefined || outputs.length === 0) throw new RangeError('no inputs or no outputs')
  if (size > MAX_BYTES) throw new RangeError('larger than a block')
  checkOutpoints(inputs)
  checkValues(outputs)
  if (isCoinbase(transaction)) {
    const { length } = first.script
    const { least, most } = COINBASE_SCRIPT_BYTES
    if (length < least || length > most) throw new RangeError('a coinbase script of a wrong length')
  } else if (inputs.some(isCoinbaseInput)) throw new RangeError('an input of a coinbase transaction')
}
