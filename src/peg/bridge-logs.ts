/** The logs of the Bridge that tell what became of peg-ins and peg-outs, and its reasons in words. */
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { toBigInt } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { LogView } from '../engine/model.ts'
import { firstBlock } from './bridge-state.ts'

const topicOf = (signature: string): Hex => keccakHex(new TextEncoder().encode(signature))

/** First topics of the logs. */
export const TOPIC = {
  pegin: topicOf('pegin_btc(address,bytes32,int256,int256)'),
  rejected: topicOf('rejected_pegin(bytes32,int256)'),
  unrefundable: topicOf('unrefundable_pegin(bytes32,int256)'),
  requested: topicOf('release_request_received(address,string,uint256)'),
  refused: topicOf('release_request_rejected(address,uint256,int256)'),
  batch: topicOf('batch_pegout_created(bytes32,bytes)'),
  created: topicOf('release_requested(bytes32,bytes32,uint256)'),
  updated: topicOf('update_collections(address)'),
  released: topicOf('release_btc(bytes32,bytes)'),
} as const

/** Why the Bridge rejected a peg-in, by the number of its log. */
const PEGIN_REASONS: Readonly<Record<string, string>> = {
  1: 'the locking cap would be passed',
  2: 'the sender is a script of several keys',
  3: 'the sender cannot be determined',
  4: 'the instructions in it are malformed',
  5: 'an amount is below the minimum',
}
/** Why a rejected peg-in was not refunded. */
const UNREFUNDABLE_REASONS: Readonly<Record<string, string>> = {
  1: 'the sender cannot be determined',
  2: 'it names no address for a refund',
  3: 'an amount is below the minimum',
  4: 'it pays to federations of different types',
}
/** Why the Bridge rejected a peg-out. */
const PEGOUT_REASONS: Readonly<Record<string, string>> = {
  1: 'the amount is below the minimum',
  2: 'a contract asked for it',
  3: 'the fee on Bitcoin would be more than the amount',
}

function wordsOf(reasons: Readonly<Record<string, string>>): (code: bigint) => string {
  return (code) => reasons[String(code)] ?? `reason ${code}`
}

/** Why a peg-in is rejected, in words, by the number in its log. */
export const peginReason = wordsOf(PEGIN_REASONS)
/** Why a rejected peg-in is not refunded. */
const unrefundableReason = wordsOf(UNREFUNDABLE_REASONS)
/** Why a peg-out is rejected. */
export const pegoutReason = wordsOf(PEGOUT_REASONS)

/** Both reasons of a peg-in that is rejected and not refunded; one where they are the same. */
export function lossReason(code: bigint, unrefundable: bigint): string {
  const [reason, why] = [peginReason(code), unrefundableReason(unrefundable)]
  return reason === why ? `${reason}; not refunded` : `${reason}; not refunded, since ${why}`
}

/** A word of a log's data. */
export function wordOf({ data }: { readonly data: Uint8Array }, index = 0): bigint {
  return toBigInt(data.subarray(index * 32, index * 32 + 32))
}

/** Logs of the Bridge with these topics from a block on; from the first of the chain's own unless given. */
export function bridgeLogs(
  engine: Engine,
  topics: readonly (readonly Hex[] | null)[],
  from = firstBlock(engine),
): Promise<readonly LogView[]> {
  const to = engine.queries.head().block.header.number
  if (from > to) return Promise.resolve([])
  return engine.queries.logs({
    range: { from, to },
    addresses: [PRECOMPILE_ADDRESS.bridge],
    topics,
    maxBlocks: 0,
    maxLogs: 0,
  })
}
