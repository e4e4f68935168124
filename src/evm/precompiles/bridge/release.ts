/** Peg-outs: a call without data asks to release the coins that come with it on the parent chain. */

import { formatAddress } from '../../../bitcoin/address.ts'
import { hash160 } from '../../../bitcoin/hash.ts'
import { senderPublicKey } from '../../../chain/transaction.ts'
import { concat, EMPTY, fromBigInt, toNumber } from '../../../encoding/bytes.ts'
import { fromHex } from '../../../encoding/hex.ts'
import { asBytes, asList, decodeRlp } from '../../../encoding/rlp.ts'
import { frameStrings } from '../../../encoding/rlp-frame.ts'
import { CELL } from '../../../state/bridge-cells.ts'
import { PrecompileFailure } from '../precompile.ts'
import {
  ADDRESS_VERSIONS,
  FEE_PER_KB,
  MINIMUM_PEGOUT,
  PEGOUT_GAP_PERCENT,
  WEI_PER_SATOSHI,
} from './constants.ts'
import { logReleaseReceived, logReleaseRejected } from './events.ts'
import { pegoutSize } from './federation.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'
import type { BridgeStore } from './store.ts'

/** Reasons of a rejection (RSKIP-185). */
const REJECTED = { lowAmount: 1n, callerContract: 2n, feeAboveValue: 3n } as const

/** Fields of a request in the queue: hash of the receiver's public key, satoshi, hash of the transaction. */
const FIELDS = 3

/** Satoshi per thousand bytes of a peg-out. */
export function feePerKb(store: BridgeStore): bigint {
  return store.readInteger(CELL.feePerKb) ?? FEE_PER_KB
}

/** The fee of a peg-out, satoshi. */
export function pegoutFee(store: BridgeStore, inputs: number, outputs: number): bigint {
  return (feePerKb(store) * BigInt(pegoutSize(inputs, outputs))) / 1000n
}

function queue(store: BridgeStore): readonly Uint8Array[] {
  store.touchList(CELL.oldReleaseRequests)
  const list = asList(decodeRlp(store.touchList(CELL.releaseRequests)), 'release requests')
  return list.map((item) => asBytes(item, 'release request'))
}

/** How many requests wait. Both queues are written back. */
export function queuedReleases(store: BridgeStore): number {
  return queue(store).length / FIELDS
}

/** Why an amount is rejected; `undefined` when it is accepted. */
function rejection(store: BridgeStore, satoshi: bigint): bigint | undefined {
  const fee = pegoutFee(store, 2, 2)
  const forFee = fee + (fee * PEGOUT_GAP_PERCENT) / 100n
  const least = forFee > MINIMUM_PEGOUT ? forFee : MINIMUM_PEGOUT
  if (satoshi >= least) return undefined
  return least === forFee ? REJECTED.feeAboveValue : REJECTED.lowAmount
}

/** Hash of the sender's key in the form that the parent chain uses. */
function receiverHash({ env: { transaction } }: BridgeCall): Uint8Array {
  const key = transaction && senderPublicKey(transaction)
  if (key === undefined) throw new PrecompileFailure('the sender has no signature to derive an address from')
  const isOdd = toNumber(key.subarray(-1)) % 2 === 1
  return hash160(concat(Uint8Array.of(isOdd ? 3 : 2), key.subarray(0, 32)))
}

function releaseBtc(call: BridgeCall): Uint8Array {
  const { env, store } = call
  const { caller, value, transaction } = env
  if (!env.isTop) {
    logReleaseRejected(env, caller, [value, REJECTED.callerContract])
    return EMPTY
  }
  const receiver = receiverHash(call)
  const satoshi = value / WEI_PER_SATOSHI
  const reason = rejection(store, satoshi)
  if (reason !== undefined) {
    env.transfer(caller, value)
    logReleaseRejected(env, caller, [value, reason])
    return EMPTY
  }
  const hash = transaction === undefined ? EMPTY : fromHex(transaction.hash)
  store.write(CELL.releaseRequests, frameStrings([...queue(store), receiver, fromBigInt(satoshi), hash]))
  const address = formatAddress({ kind: 'publicKeyHash', hash: receiver }, ADDRESS_VERSIONS)
  logReleaseReceived(env, caller, [new TextEncoder().encode(address), value])
  return EMPTY
}

/** What a call without data is. */
export const RELEASE_METHOD: BridgeMethod = { signature: 'releaseBtc()', gas: 23_000n, run: releaseBtc }
