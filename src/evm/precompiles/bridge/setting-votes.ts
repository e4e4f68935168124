/** Votes on the fee of peg-outs, and increases of the locking cap. */

import { FEE_VOTER, LOCKING_CAP_VOTER } from '../../../chain/bridge-senders.ts'
import { asBigInt, decodeRlp } from '../../../encoding/rlp.ts'
import { CELL } from '../../../state/bridge-cells.ts'
import { MAX_LONG } from '../../word.ts'
import { encodeInt } from '../abi.ts'
import { PrecompileFailure } from '../precompile.ts'
import { CAP_MULTIPLIER, LOCKING_CAP, MAX_FEE_PER_KB } from './constants.ts'
import { Election } from './election.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'
import { type BridgeStore, encodeInteger } from './store.ts'

/** Results of a vote on the fee. */
const FEE_RESULT = {
  success: 1,
  notPositive: -1,
  voted: -1,
  tooHigh: -2,
  unauthorized: -10,
  failed: -10,
} as const

/** One voter decides. */
const REQUIRED_VOTES = 1

function isLong(value: bigint): boolean {
  return value <= MAX_LONG && value >= -MAX_LONG - 1n
}

function voteFeePerKb({ args, store, env }: BridgeCall): number {
  const fee = args.integer(0)
  if (!isLong(fee)) return FEE_RESULT.failed
  if (env.caller !== FEE_VOTER) return FEE_RESULT.unauthorized
  if (fee <= 0n) return FEE_RESULT.notPositive
  if (fee > MAX_FEE_PER_KB) return FEE_RESULT.tooHigh
  const election = new Election(store, CELL.feeElection, REQUIRED_VOTES)
  if (!election.vote({ name: 'setFeePerKb', args: [encodeInteger(fee)] }, env.caller)) return FEE_RESULT.voted
  const winner = election.winner()
  if (winner !== undefined) {
    store.writeInteger(CELL.feePerKb, asBigInt(decodeRlp(winner.args[0] as Uint8Array), 'fee'))
    election.clear()
  }
  return FEE_RESULT.success
}

/** What may be locked, satoshi. The first call that reads it stores it. */
export function lockingCap(store: BridgeStore): bigint {
  const cap = store.readInteger(CELL.lockingCap) ?? LOCKING_CAP
  store.writeInteger(CELL.lockingCap, cap)
  return cap
}

function increaseLockingCap({ args, store, env }: BridgeCall): boolean {
  const cap = args.integer(0)
  if (cap <= 0n || !isLong(cap)) throw new PrecompileFailure('the locking cap must be a positive amount')
  if (env.caller !== LOCKING_CAP_VOTER) return false
  const current = lockingCap(store)
  if (cap < current || cap > current * CAP_MULTIPLIER) return false
  store.writeInteger(CELL.lockingCap, cap)
  return true
}

/** Both. */
export const SETTING_METHODS: readonly BridgeMethod[] = [
  {
    signature: 'voteFeePerKbChange(int256)',
    gas: 10_000n,
    run: (call) => encodeInt(voteFeePerKb(call)),
  },
  {
    signature: 'increaseLockingCap(int256)',
    gas: 8_000n,
    run: (call) => encodeInt(increaseLockingCap(call) ? 1 : 0),
  },
]
