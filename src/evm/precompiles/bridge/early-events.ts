/** Logs of the Bridge before RSKIP-146: one topic, a word in ASCII, and RLP data. */
import { toBigInt } from '../../../encoding/bytes.ts'
import { fromHex, type Hex, toFixedHex } from '../../../encoding/hex.ts'
import { encodeRlp, type RlpItem } from '../../../encoding/rlp.ts'
import type { PrecompileEnvironment } from '../precompile.ts'
import { utf8 } from './events.ts'

function emit(env: PrecompileEnvironment, topic: string, data: RlpItem): void {
  env.emit([toFixedHex(toBigInt(utf8(topic)), 32)], encodeRlp(data))
}

/** A txid as text. */
function text(txid: Hex): Uint8Array {
  return utf8(txid.slice(2))
}

/** The sender. */
export function logEarlyUpdate(env: PrecompileEnvironment): void {
  emit(env, 'update_collections_topic', fromHex(env.caller))
}

/** Txid (displayed), hash of the member's key of the parent chain, hash of the creating transaction. */
export function logEarlySignature(
  env: PrecompileEnvironment,
  txid: Hex,
  keyHash: Uint8Array,
  hash: Hex,
): void {
  emit(env, 'add_signature_topic', [text(txid), keyHash, fromHex(hash)])
}

/** Txid (displayed), the signed transaction. */
export function logEarlyRelease(env: PrecompileEnvironment, txid: Hex, transaction: Uint8Array): void {
  emit(env, 'release_btc_topic', [text(txid), transaction])
}

/** A federation: its script hash and its keys. */
interface EarlyFederation {
  readonly scriptHash: Uint8Array
  readonly publicKeys: readonly Uint8Array[]
}

/** The federation before, the one after, and the height from which that is active. */
export function logEarlyCommitment(
  env: PrecompileEnvironment,
  before: EarlyFederation,
  after: EarlyFederation,
  activation: number,
): void {
  const item = ({ scriptHash, publicKeys }: EarlyFederation): RlpItem => [scriptHash, publicKeys]
  emit(env, 'commit_federation_topic', [item(before), item(after), utf8(String(activation))])
}
