/** Requests of peg-outs: a call without data asks to release the coins that come with it on the parent chain. */
import { formatAddress } from '../../../../bitcoin/address.ts'
import { hash160 } from '../../../../bitcoin/hash.ts'
import { senderPublicKey } from '../../../../chain/transaction.ts'
import { concat, EMPTY, toNumber } from '../../../../encoding/bytes.ts'
import { fromHex } from '../../../../encoding/hex.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { WEI_PER_SATOSHI } from '../constants/network.ts'
import { logEarlyReleaseReceived, logReleaseReceived, logReleaseRejected, utf8 } from '../events.ts'
import { pegoutSize } from '../federation/federation.ts'
import type { BridgeCall, BridgeMethod, BridgeState } from '../method.ts'
import { feePerKb } from '../votes/settings.ts'

/** Reasons of a rejection (RSKIP-185). */
const REJECTED = { lowAmount: 1n, callerContract: 2n, feeAboveValue: 3n } as const

/** The fee of a peg-out of so many inputs and outputs, satoshi. */
export function pegoutFee(state: BridgeState, inputs: number, outputs: number): bigint {
  return (feePerKb(state) * BigInt(pegoutSize(state.federations.active(), inputs, outputs))) / 1000n
}

/** Why an amount is rejected; `undefined` when it is accepted. */
function rejection(call: BridgeCall, satoshi: bigint): bigint | undefined {
  const { network, isActive } = call
  if (!isActive('rskip219')) return satoshi > network.earlyMinimumPegout ? undefined : REJECTED.lowAmount
  const fee = pegoutFee(call, 2, 2)
  const forFee = fee + (fee * network.pegoutGapPercent) / 100n
  const least = forFee > network.minimumPegout ? forFee : network.minimumPegout
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

/** An amount as events have it: wei, satoshi before RSKIP-427. */
function eventAmount({ isActive, env }: BridgeCall): bigint {
  return isActive('rskip427') ? env.value : env.value / WEI_PER_SATOSHI
}

function reject(call: BridgeCall, reason: bigint): Uint8Array {
  logReleaseRejected(call.env, [call.env.caller], [eventAmount(call), reason])
  return EMPTY
}

function refund(call: BridgeCall, reason: bigint): Uint8Array {
  const { env, isActive } = call
  if (!isActive('rskip185')) return EMPTY
  const whole = (env.value / WEI_PER_SATOSHI) * WEI_PER_SATOSHI
  env.transfer(env.caller, isActive('rskip427') ? env.value : whole)
  return reject(call, reason)
}

function accept(call: BridgeCall, receiver: Uint8Array, satoshi: bigint): Uint8Array {
  const { env, peg, isActive, network } = call
  const hash = env.transaction && fromHex(env.transaction.hash)
  const request = { receiver, amount: satoshi, requestHash: isActive('rskip146') ? hash : undefined }
  peg.requests.set([...peg.requests.get(), request])
  const indexed = [env.caller]
  const amount = eventAmount(call)
  if (isActive('rskip326')) {
    const address = formatAddress({ kind: 'publicKeyHash', hash: receiver }, network.parent.addresses)
    logReleaseReceived(env, indexed, [utf8(address), amount])
  } else if (isActive('rskip185')) logEarlyReleaseReceived(env, indexed, [receiver, amount])
  return EMPTY
}

function releaseBtc(call: BridgeCall): Uint8Array {
  const { env, isActive } = call
  if (!env.isTop) {
    if (!isActive('rskip185')) throw new PrecompileFailure('a contract cannot ask for a release')
    return reject(call, REJECTED.callerContract)
  }
  const receiver = receiverHash(call)
  const satoshi = env.value / WEI_PER_SATOSHI
  const reason = rejection(call, satoshi)
  return reason === undefined ? accept(call, receiver, satoshi) : refund(call, reason)
}

/** What a call without data is. */
export const RELEASE_METHOD: BridgeMethod = { signature: 'releaseBtc()', gas: 23_000n, run: releaseBtc }
