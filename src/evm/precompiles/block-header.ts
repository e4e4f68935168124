/** 0x01000010: fields of the ancestors of the executing block (RSKIP-119, RSKIP-536). */

import { ELEMENT, type Header } from '../../chain/header.ts'
import { TAG } from '../../chain/merged-mining/commitment.ts'
import { EMPTY, fromBigIntSigned } from '../../encoding/bytes.ts'
import { HASH_BYTES } from '../../encoding/hash.ts'
import { fromHex } from '../../encoding/hex.ts'
import { encodeBytes, readInt } from './abi.ts'
import { type Method, methodContract, precompileMethod } from './method-contract.ts'
import { type AncestorBlock, PrecompileFailure } from './precompile.ts'

/** How far back the contract looks, in blocks. */
const MAX_DEPTH = 4000

type Field = (ancestor: AncestorBlock, args: readonly bigint[]) => Uint8Array

/** `undefined` for integers outside 16 bits (the caller gets an empty answer); throws PrecompileFailure below zero. */
function smallIndex(value: bigint): number | undefined {
  if (BigInt.asIntN(16, value) !== value) return undefined
  if (value < 0n) throw new PrecompileFailure('negative depth or index')
  return Number(value)
}

/** `name(int256 depth, …) returns (bytes)`, depth 0 being the parent; empty where there is no such block. */
function headerMethod(name: string, field: Field, parameters = 1): Method {
  return precompileMethod({
    signature: `${name}(${Array(parameters).fill('int256').join()})`,
    decode: (data) => Array.from({ length: parameters }, (_, i) => readInt(data, 32 * i)),
    gas: (_, inputLength) => 4000n + 2n * BigInt(inputLength),
    run(args, env) {
      const depth = smallIndex(args[0] as bigint)
      const ancestor = depth === undefined || depth >= MAX_DEPTH ? undefined : env.ancestor(depth)
      return encodeBytes(ancestor === undefined ? EMPTY : field(ancestor, args))
    },
  })
}

/** What the coinbase transaction carries behind the last tag and its hash; fails when it ends before the hash does. */
function mergedMiningTags(header: Header): Uint8Array {
  const transaction = header.coinbaseTransaction
  const tag = Buffer.from(transaction.buffer, transaction.byteOffset, transaction.length).lastIndexOf(TAG)
  if (tag === -1) return EMPTY
  const end = tag + TAG.length + HASH_BYTES
  if (end > transaction.length) throw new PrecompileFailure('coinbase transaction ends within the tag')
  return transaction.subarray(end)
}

function uncleCoinbase(ancestor: AncestorBlock, args: readonly bigint[]): Uint8Array {
  const index = smallIndex(args[1] as bigint)
  const uncle = index === undefined ? undefined : ancestor.uncles[index]
  return uncle === undefined ? EMPTY : fromHex(uncle.coinbase)
}

function difficultyWithUncles({ header, uncles }: AncestorBlock): bigint {
  return uncles.reduce((sum, uncle) => sum + uncle.difficulty, header.difficulty)
}

/** Numbers come as minimal two's complement; the gas limit as the header spells it. */
const FIRST_METHODS: readonly Method[] = [
  headerMethod('getCoinbaseAddress', ({ header }) => fromHex(header.coinbase)),
  headerMethod('getBlockHash', ({ hash }) => fromHex(hash)),
  headerMethod('getMergedMiningTags', ({ header }) => mergedMiningTags(header)),
  headerMethod('getMinGasPrice', ({ header }) => fromBigIntSigned(header.minimumGasPrice)),
  headerMethod(
    'getGasLimit',
    ({ header }) => header.verbatim?.[ELEMENT.gasLimit] ?? fromBigIntSigned(header.gasLimit),
  ),
  headerMethod('getGasUsed', ({ header }) => fromBigIntSigned(header.gasUsed)),
  headerMethod('getDifficulty', ({ header }) => fromBigIntSigned(header.difficulty)),
  headerMethod('getBitcoinHeader', ({ header }) => header.bitcoinHeader),
  headerMethod('getUncleCoinbaseAddress', uncleCoinbase, 2),
]

/** All methods. */
export const blockHeaderContract = methodContract([
  ...FIRST_METHODS,
  headerMethod('getDifficultyWithUncles', (ancestor) => fromBigIntSigned(difficultyWithUncles(ancestor))),
  headerMethod('getCumulativeWork', ({ totalDifficulty }) => fromBigIntSigned(totalDifficulty)),
])

/** The methods before RSKIP-536. */
export const earlierBlockHeaderContract = methodContract(FIRST_METHODS)
