/** Headers out of an upstream's answers: from raw bytes, or from the fields of a block, with the hash that was asked for. */

import type { ChainConfig } from '../../chain/config.ts'
import { assumeHeaderHash, decodeHeader, type Header, headerHash } from '../../chain/header.ts'
import { checkProof } from '../../chain/merged-mining/proof.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import { messageOf } from '../../errors.ts'
import { ethereumHeaderCheck } from './ethereum-header.ts'
import type { RemoteHeader } from './model.ts'
import type { WireHeader } from './wire.ts'

/** Networks whose proofs of work cost something; on local ones they prove nothing. */
const PUBLIC_CHAIN_IDS: readonly number[] = [30, 31]

/** What an answer has of a header: the fields of the block, and the raw bytes, where the upstream serves them. */
export interface HeaderAnswer {
  readonly fields: WireHeader
  readonly raw: Uint8Array | undefined
}

/** The parts of the proof of work that are not in the raw form of a header. */
function proofOf({ fields }: HeaderAnswer) {
  return {
    bitcoinHeader: fields.bitcoinMergedMiningHeader ?? EMPTY,
    merkleProof: fields.bitcoinMergedMiningMerkleProof ?? EMPTY,
    coinbaseTransaction: fields.bitcoinMergedMiningCoinbaseTransaction ?? EMPTY,
  }
}

/** The header that the fields of a block stand for, as far as they tell: without null elements, padding and the like. */
function headerOfFields(answer: HeaderAnswer, config: ChainConfig, isSameFamily: boolean): Header {
  const { fields } = answer
  const rules = config.rulesAt(fields.number)
  const version = isSameFamily ? rules.headerVersion : 0
  return {
    version,
    parentHash: fields.parentHash,
    unclesHash: fields.sha3Uncles,
    coinbase: fields.miner,
    stateRoot: fields.stateRoot,
    transactionsRoot: fields.transactionsRoot,
    receiptsRoot: fields.receiptsRoot,
    logsBloom: fields.logsBloom,
    difficulty: fields.difficulty,
    number: fields.number,
    gasLimit: fields.gasLimit,
    gasUsed: fields.gasUsed,
    timestamp: fields.timestamp,
    extraData: fields.extraData,
    paidFees: fields.paidFees ?? 0n,
    minimumGasPrice: fields.minimumGasPrice ?? fields.baseFeePerGas ?? 0n,
    uncleCount: fields.uncles?.length ?? 0,
    ummRoot: version > 0 || (isSameFamily && rules.umm) ? EMPTY : undefined,
    edges: version > 0 ? (fields.rskPteEdges ?? []) : undefined,
    baseEvent: version === 2 ? (fields.baseEvent ?? EMPTY) : undefined,
    ...proofOf(answer),
  }
}

/** The header in raw bytes, with the parts of its proof that they leave out. */
function headerOfBytes(answer: HeaderAnswer, raw: Uint8Array, config: ChainConfig): Header {
  const header = decodeHeader(raw, config)
  // Before RSKIP-92 the raw form has all of it.
  if (header.bitcoinHeader.length === 0 || header.coinbaseTransaction.length > 0) return header
  const { merkleProof, coinbaseTransaction } = proofOf(answer)
  return { ...header, merkleProof, coinbaseTransaction }
}

/**
 * Reads a header of this family: its bytes have to hash to the hash of the block; on a public network its proof of work is
 * checked.
 */
function readOwn(answer: HeaderAnswer, config: ChainConfig, chainId: number): Header | string {
  const { fields, raw } = answer
  let header: Header
  try {
    header = raw === undefined ? headerOfFields(answer, config, true) : headerOfBytes(answer, raw, config)
  } catch (error) {
    return `the raw header of block ${fields.number} cannot be read (${messageOf(error)})`
  }
  if (header.number !== fields.number) {
    return `the raw header of block ${fields.number} is that of block ${header.number}`
  }
  const hash = headerHash(header, config)
  if (hash !== fields.hash)
    return `the header of block ${fields.number} hashes to ${hash}, not to ${fields.hash}`
  if (header.number > 0 && PUBLIC_CHAIN_IDS.includes(chainId)) {
    try {
      checkProof(header, config)
    } catch (error) {
      return `block ${fields.number} has no valid proof of work (${messageOf(error)})`
    }
  }
  return header
}

/** A header, and whether the hash that was answered with it is that of its bytes. */
export type ReadHeader = Pick<RemoteHeader, 'header' | 'isVerified'>

/** The header of an answer. Of another family's chain the fields are taken, with the hash that they have. A text is what is wrong. */
export function readHeader(
  answer: HeaderAnswer,
  config: ChainConfig,
  isSameFamily: boolean,
): ReadHeader | string {
  if (isSameFamily) {
    const header = readOwn(answer, config, config.chainId)
    return typeof header === 'string' ? header : { header, isVerified: true }
  }
  const { number, hash } = answer.fields
  const check = ethereumHeaderCheck(answer.fields)
  if (typeof check === 'string') return `the header of block ${number} hashes to ${check}, not to ${hash}`
  const header = headerOfFields(answer, config, false)
  assumeHeaderHash(header, hash)
  return { header, isVerified: check === true }
}
