/** Logs of the Bridge: topics and data as the reference node encodes them. */
import { concat, fromBigIntFixed } from '../../../encoding/bytes.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import { type Hex, toFixedHex } from '../../../encoding/hex.ts'
import { encodeUnsigned } from '../abi.ts'
import type { PrecompileEnvironment } from '../precompile.ts'

/** One value of an event's data: an integer, or a `bytes` or `string`. */
type EventValue = bigint | Uint8Array

const WORD = 32

/** Nothing still takes a word of padding. */
function padded(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? new Uint8Array(WORD) : concat(bytes, new Uint8Array(-bytes.length & (WORD - 1)))
}

/** ABI encoding of a sequence of values. */
function encodeValues(values: readonly EventValue[]): Uint8Array {
  const heads: Uint8Array[] = []
  const tails: Uint8Array[] = []
  let tailAt = WORD * values.length
  for (const value of values) {
    if (typeof value === 'bigint') {
      heads.push(encodeUnsigned(BigInt.asUintN(256, value)))
      continue
    }
    heads.push(encodeUnsigned(BigInt(tailAt)))
    const tail = concat(fromBigIntFixed(BigInt(value.length), WORD), padded(value))
    tails.push(tail)
    tailAt += tail.length
  }
  return concat(...heads, ...tails)
}

/** An event; its indexed parameters are addresses and words of 32 bytes. */
function event(signature: string) {
  const topic = keccakHex(new TextEncoder().encode(signature))
  return (env: PrecompileEnvironment, indexed: readonly Hex[], values: readonly EventValue[]): void => {
    env.emit([topic, ...indexed.map((value) => toFixedHex(BigInt(value), WORD))], encodeValues(values))
  }
}

/** UTF-8 of a string, as events have it. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Receiver; hash of the transaction of the parent chain, sender's address there (text), satoshi (RSKIP-146). */
export const logLock = event('lock_btc(address,bytes32,string,int256)')

/** Receiver, txid; satoshi, version of the instructions (RSKIP-170). */
export const logPegin = event('pegin_btc(address,bytes32,int256,int256)')

/** Txid; reason (RSKIP-181). */
export const logRejectedPegin = event('rejected_pegin(bytes32,int256)')

/** Txid; reason (RSKIP-181). */
export const logUnrefundablePegin = event('unrefundable_pegin(bytes32,int256)')

/** Sender; address on the parent chain (text), wei, satoshi before RSKIP-427 (RSKIP-326). */
export const logReleaseReceived = event('release_request_received(address,string,uint256)')

/** Sender; hash of the receiver's key, satoshi (RSKIP-185, until RSKIP-326). */
export const logEarlyReleaseReceived = event('release_request_received(address,bytes,uint256)')

/** Sender; wei, satoshi before RSKIP-427, reason (RSKIP-185). */
export const logReleaseRejected = event('release_request_rejected(address,uint256,int256)')

/** Hash of the creating transaction, txid; satoshi (RSKIP-146). */
export const logReleaseRequested = event('release_requested(bytes32,bytes32,uint256)')

/** Txid; values of the inputs (RSKIP-428). */
export const logReleaseCreated = event('pegout_transaction_created(bytes32,bytes)')

/** Txid; hashes of the requests (RSKIP-271). */
export const logBatchCreated = event('batch_pegout_created(bytes32,bytes)')

/** Txid; height of the block that created it (RSKIP-326). */
export const logReleaseConfirmed = event('pegout_confirmed(bytes32,uint256)')

/** Hash of the creating transaction, the member's address; key of the parent chain (RSKIP-146). */
export const logSignature = event('add_signature(bytes32,address,bytes)')

/** Hash of the creating transaction; the signed transaction (RSKIP-146). */
export const logReleaseSigned = event('release_btc(bytes32,bytes)')

/** No indexed parameter; sender (RSKIP-146). */
export const logCollectionsUpdated = event('update_collections(address)')

/** No indexed parameter; keys and address of the active federation, the same of the new one, activation height. */
export const logFederationCommitted = event('commit_federation(bytes,string,bytes,string,int256)')

/** No indexed parameter; redeem script of the proposed federation, height (RSKIP-419). */
export const logFederationFailed = event('commit_federation_failed(bytes,int256)')

/** Caller; former cap, new cap (wei). */
export const logUnionCapIncreased = event('union_bridge_locking_cap_increased(address,uint256,uint256)')

/** Union bridge; wei. */
export const logUnionRequested = event('union_rbtc_requested(address,uint256)')

/** Union bridge; wei. */
export const logUnionReleased = event('union_rbtc_released(address,uint256)')

/** Caller, or the Bridge itself; are requests enabled, are releases enabled (1 or 0). */
export const logUnionPermissions = event('union_bridge_transfer_permissions_updated(address,bool,bool)')
