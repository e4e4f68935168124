/** Votes on the fee of peg-outs, and increases of the locking cap. */

import { asBigInt, decodeRlp } from '../../../../encoding/rlp.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { MAX_LONG } from '../../../word.ts'
import { encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { CAP_MULTIPLIER, MAX_FEE_PER_KB } from '../constants/network.ts'
import type { BridgeCall, BridgeMethod, BridgeState } from '../method.ts'
import { encodeInteger } from '../storage/store.ts'
import { localView } from '../views.ts'
import { Election, majorityOf } from './election.ts'

/** Results of a vote on the fee. */
const FEE_RESULT = {
  success: 1,
  notPositive: -1,
  voted: -1,
  tooHigh: -2,
  unauthorized: -10,
  failed: -10,
} as const

function isLong(value: bigint): boolean {
  return value <= MAX_LONG && value >= -MAX_LONG - 1n
}

function voteFeePerKb({ args, store, env, network: { senders } }: BridgeCall): number {
  const fee = args.integer(0)
  if (!isLong(fee)) return FEE_RESULT.failed
  if (!senders.feeVoters.has(env.caller)) return FEE_RESULT.unauthorized
  if (fee <= 0n) return FEE_RESULT.notPositive
  if (fee > MAX_FEE_PER_KB) return FEE_RESULT.tooHigh
  const election = new Election(store, CELL.feeElection, majorityOf(senders.feeVoters))
  if (!election.vote({ name: 'setFeePerKb', args: [encodeInteger(fee)] }, env.caller)) return FEE_RESULT.voted
  const winner = election.winner()
  if (winner !== undefined) {
    store.writeInteger(CELL.feePerKb, asBigInt(decodeRlp(winner.args[0] as Uint8Array), 'fee'))
    election.clear()
  }
  return FEE_RESULT.success
}

/** Satoshi per thousand bytes of a peg-out. */
export function feePerKb({ store, network }: BridgeState): bigint {
  return store.readInteger(CELL.feePerKb) ?? network.feePerKb
}

/** What may be locked, satoshi. The first call that reads it stores it. */
export function lockingCap({ store, network }: BridgeState): bigint {
  const cap = store.readInteger(CELL.lockingCap) ?? network.lockingCap
  store.writeInteger(CELL.lockingCap, cap)
  return cap
}

function increaseLockingCap(call: BridgeCall): boolean {
  const { args, store, env, network } = call
  const cap = args.integer(0)
  if (cap <= 0n || !isLong(cap)) throw new PrecompileFailure('the locking cap must be a positive amount')
  if (!network.senders.lockingCapVoters.has(env.caller)) return false
  const current = lockingCap(call)
  if (cap < current || cap > current * CAP_MULTIPLIER) return false
  store.writeInteger(CELL.lockingCap, cap)
  return true
}

/** All of them. */
export const SETTING_METHODS: readonly BridgeMethod[] = [
  {
    signature: 'voteFeePerKbChange(int256)',
    gas: 10_000n,
    run: (call) => encodeInt(voteFeePerKb(call)),
  },
  {
    signature: 'increaseLockingCap(int256)',
    gas: 8_000n,
    since: 'rskip134',
    run: (call) => encodeInt(increaseLockingCap(call) ? 1 : 0),
  },
  localView('getFeePerKb()', 2_000n, (call) => encodeInt(feePerKb(call))),
  localView('getLockingCap()', 3_000n, (call) => encodeInt(lockingCap(call)), { since: 'rskip134' }),
]
