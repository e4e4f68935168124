/** What the next peg-out will cost. */
import { hash160 } from '../../../../bitcoin/hash.ts'
import { fromHex } from '../../../../encoding/hex.ts'
import { encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { WEI_PER_SATOSHI } from '../constants/network.ts'
import type { BridgeCall, BridgeState } from '../method.ts'
import type { Run } from '../views.ts'
import { buildPegout } from './batch.ts'
import { pegoutFee } from './release.ts'
import { activeWallet, balanceOf } from './wallet.ts'

/** Receiver of the peg-out that is planned with those that wait. */
const RECEIVER = hash160(fromHex('0x0329f519f8d13a7e3dd35fa5c2480c6bf6c0489da40081e8311a91813492083953'))

/** One coin of the parent chain, satoshi. */
const COIN = 100_000_000n

/** The fee of a batch of the requests and one of this amount, satoshi; `undefined` when it cannot be made. */
function plannedFee(state: BridgeState, amount: bigint): bigint | undefined {
  const requests = [...state.peg.requests.get(), { receiver: RECEIVER, amount }]
  const release = buildPegout(state, activeWallet(state), requests)
  if (typeof release === 'string') return undefined
  const sent = release.transaction.outputs.reduce((sum, { value }) => sum + value, 0n)
  return balanceOf({ outputs: release.spent }) - sent
}

/** By counts alone: two inputs, and two outputs beside the requests. */
function countedFee(call: BridgeCall): bigint {
  return pegoutFee(call, 2, 2 + call.peg.requests.get().length)
}

function nextFee(call: BridgeCall): bigint {
  const { peg, network, isActive } = call
  const isNothing = peg.requests.get().length === 0
  if (!isActive('rskip385') && isNothing) return 0n
  if (!isActive('rskip305')) return countedFee(call)
  return plannedFee(call, isActive('rskip540') ? network.minimumPegout : COIN) ?? countedFee(call)
}

/** `getEstimatedFeesForNextPegOutEvent`. */
export const estimateNext: Run = (call) => encodeInt(nextFee(call))

/** `getEstimatedFeesForPegOutAmount`; throws PrecompileFailure for less than a peg-out takes, and without enough coins. */
export const estimateAmount: Run = (call) => {
  const amount = call.args.integer(0) / WEI_PER_SATOSHI
  if (amount < call.network.minimumPegout) throw new PrecompileFailure('less than the least peg-out')
  const fee = plannedFee(call, amount)
  if (fee === undefined) throw new PrecompileFailure('no peg-out can be planned')
  return encodeInt(fee)
}
