/** Logs of the Bridge: topics and data as the reference node encodes them. */
import { concat, fromBigIntFixed } from '../../../encoding/bytes.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import { type Hex, toFixedHex } from '../../../encoding/hex.ts'
import { encodeUnsigned } from '../abi.ts'
import type { PrecompileEnvironment } from '../precompile.ts'

/** One value of an event's data: an unsigned integer, or a `bytes` or `string`. */
type EventValue = bigint | Uint8Array

const WORD = 32

function padded(bytes: Uint8Array): Uint8Array {
  return concat(bytes, new Uint8Array(-bytes.length & (WORD - 1)))
}

/** ABI encoding of a sequence of values. */
function encodeValues(values: readonly EventValue[]): Uint8Array {
  const heads: Uint8Array[] = []
  const tails: Uint8Array[] = []
  let tailAt = WORD * values.length
  for (const value of values) {
    if (typeof value === 'bigint') {
      heads.push(encodeUnsigned(value))
      continue
    }
    heads.push(encodeUnsigned(BigInt(tailAt)))
    const tail = concat(fromBigIntFixed(BigInt(value.length), WORD), padded(value))
    tails.push(tail)
    tailAt += tail.length
  }
  return concat(...heads, ...tails)
}

/** An event whose indexed parameters, if any, are one address. */
function event(signature: string) {
  const topic = keccakHex(new TextEncoder().encode(signature))
  return (env: PrecompileEnvironment, indexed: Hex | undefined, values: readonly EventValue[]): void => {
    const topics = indexed === undefined ? [topic] : [topic, toFixedHex(BigInt(indexed), WORD)]
    env.emit(topics, encodeValues(values))
  }
}

/** Sender; address on the parent chain (text), wei (RSKIP-326, RSKIP-427). */
export const logReleaseReceived = event('release_request_received(address,string,uint256)')

/** Sender; wei, reason (RSKIP-185, RSKIP-427). */
export const logReleaseRejected = event('release_request_rejected(address,uint256,int256)')

/** No indexed parameter; keys and address of the active federation, the same of the new one, activation height. */
export const logFederationCommitted = event('commit_federation(bytes,string,bytes,string,int256)')

/** Caller; former cap, new cap (wei). */
export const logUnionCapIncreased = event('union_bridge_locking_cap_increased(address,uint256,uint256)')

/** Union bridge; wei. */
export const logUnionRequested = event('union_rbtc_requested(address,uint256)')

/** Union bridge; wei. */
export const logUnionReleased = event('union_rbtc_released(address,uint256)')

/** Caller, or the Bridge itself; are requests enabled, are releases enabled (1 or 0). */
export const logUnionPermissions = event('union_bridge_transfer_permissions_updated(address,bool,bool)')
