/** Coinbase transactions, and the blocks that begin with them. */
import { concat, EMPTY } from '../../encoding/bytes.ts'
import { HASH_BYTES } from '../../encoding/hash.ts'
import { encodeNumber } from '../interpreter/script-number.ts'
import { OP, push } from '../script.ts'
import { uint32 } from '../serialization.ts'
import { FINAL_SEQUENCE, type Output, type Transaction } from '../transaction.ts'
import { WITNESS_COMMITMENT_HEAD, witnessCommitment } from '../witness-commitment.ts'
import { witnessRoot } from './block.ts'

const NO_HASH = new Uint8Array(HASH_BYTES)

/** How a coinbase script begins: a push of the height (BIP-34). */
export function heightPush(height: number): Uint8Array {
  if (height === 0) return Uint8Array.of(OP[0])
  return height <= 16 ? Uint8Array.of(OP[1] + height - 1) : push(encodeNumber(BigInt(height)))
}

/** What a miner chooses of a coinbase transaction. */
export interface CoinbaseParts {
  readonly height: number
  /** Satoshi: subsidy and fees. */
  readonly value: bigint
  /** Script of the output that takes them. */
  readonly script: Uint8Array
  /** Makes otherwise equal coinbase transactions different. */
  readonly extraNonce: number
  /** What follows height and nonce in the input's script, for tags of merge mining. */
  readonly tag?: Uint8Array
  /** More outputs, without value. */
  readonly outputs?: readonly Output[]
}

/** The coinbase transaction in front of others, which it commits to (BIP-141). */
export function coinbaseOf(parts: CoinbaseParts, others: readonly Transaction[]): Transaction {
  const { height, value, script, extraNonce, tag = EMPTY, outputs = [] } = parts
  const unlocking = concat(heightPush(height), push(uint32(extraNonce)), tag)
  const plain: Transaction = {
    version: 2,
    inputs: [
      { hash: NO_HASH, index: 0xffffffff, script: unlocking, sequence: FINAL_SEQUENCE, witness: [NO_HASH] },
    ],
    outputs: [{ value, script }, ...outputs],
    lockTime: 0,
  }
  const root = witnessRoot([plain, ...others])
  const commitment = concat(WITNESS_COMMITMENT_HEAD, witnessCommitment(root, NO_HASH))
  return { ...plain, outputs: [...plain.outputs, { value: 0n, script: commitment }] }
}
