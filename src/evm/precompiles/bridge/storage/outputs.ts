/** Outputs of the parent chain that a federation can spend, as its cells list them. */
import { ByteReader } from '../../../../bitcoin/byte-reader.ts'
import { reversed } from '../../../../bitcoin/hash.ts'
import { uint32, uint64 } from '../../../../bitcoin/serialization.ts'
import { concat, oneByte } from '../../../../encoding/bytes.ts'
import { HASH_BYTES } from '../../../../encoding/hash.ts'
import { type CellFormat, collection } from './store.ts'
import { encodeStrings } from './strings.ts'

/** An output to spend. */
export interface SpendableOutput {
  /** Hash of its transaction, raw order. */
  readonly hash: Uint8Array
  readonly index: number
  /** Satoshi. */
  readonly value: bigint
  readonly script: Uint8Array
  /** Always 0. */
  readonly height: number
  readonly isCoinbase: boolean
}

function encodeOutput({ hash, index, value, script, height, isCoinbase }: SpendableOutput): Uint8Array {
  return concat(
    uint64(value),
    uint32(script.length),
    script,
    reversed(hash),
    uint32(index),
    uint32(height),
    oneByte(isCoinbase ? 1 : 0),
  )
}

function decodeOutput(bytes: Uint8Array): SpendableOutput {
  const reader = new ByteReader(bytes)
  const value = reader.int64()
  const script = reader.bytes(reader.uint32())
  const hash = reversed(reader.bytes(HASH_BYTES))
  return {
    value,
    script,
    hash,
    index: reader.uint32(),
    height: reader.uint32(),
    isCoinbase: reader.byte() === 1,
  }
}

/** RLP of a list of outputs. */
export function encodeOutputs(outputs: readonly SpendableOutput[]): Uint8Array {
  return encodeStrings(outputs.map(encodeOutput))
}

/** The list in a cell, in the order in which the outputs came. */
export function outputList(slot: bigint): CellFormat<readonly SpendableOutput[]> {
  return collection(
    slot,
    (strings) => strings.map(decodeOutput),
    (outputs) => outputs.map(encodeOutput),
  )
}
