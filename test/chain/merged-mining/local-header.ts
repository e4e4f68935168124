/** A plain header of the local network, without proof. */
import { ZERO_BLOOM } from '../../../src/chain/bloom.ts'
import type { Header } from '../../../src/chain/header.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'

const word = (value: bigint): Hex => toFixedHex(value, 32)

/** Difficulty 1, no transactions but the last; the same for the same number. */
export function localHeader(number: number): Header {
  return {
    version: 2,
    parentHash: word(BigInt(number) + 1000n),
    unclesHash: word(1n),
    coinbase: '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d',
    stateRoot: word(2n),
    transactionsRoot: word(3n),
    receiptsRoot: word(4n),
    logsBloom: ZERO_BLOOM,
    difficulty: 1n,
    number,
    gasLimit: 9_990_235n,
    gasUsed: 0n,
    timestamp: 1_700_000_000 + number,
    extraData: EMPTY,
    paidFees: 0n,
    minimumGasPrice: 0n,
    uncleCount: 0,
    ummRoot: EMPTY,
    edges: [],
    baseEvent: EMPTY,
    bitcoinHeader: EMPTY,
    merkleProof: EMPTY,
    coinbaseTransaction: EMPTY,
  }
}
