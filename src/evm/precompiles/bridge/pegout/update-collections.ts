/** `updateCollections`: what the peg has to do is done a step further, by a member of the federation. */
import { EMPTY } from '../../../../encoding/bytes.ts'
import { type Hex, toHex } from '../../../../encoding/hex.ts'
import { logEarlyUpdate } from '../early-events.ts'
import { logCollectionsUpdated, logReleaseConfirmed } from '../events.ts'
import { updateCreationHeights, updateSvp } from '../federation/svp.ts'
import type { BridgeCall } from '../method.ts'
import { creationHash } from '../pegin/creation-hash.ts'
import type { WaitingRelease } from '../storage/releases.ts'
import { makePegouts } from './batch.ts'
import { migrateFunds } from './migration.ts'
import { displayedTxid } from './settlement.ts'
import { inOrder } from './waiting-order.ts'

/** By which hash a release waits for signatures. */
function signingKey({ isActive }: BridgeCall, { creationHash: made }: WaitingRelease, hash: Hex): Hex {
  const own = made && toHex(made)
  if (isActive('rskip375') && own !== undefined) return own
  return isActive('rskip146') && !isActive('rskip176') ? (own ?? hash) : hash
}

/** Lets one release that has enough confirmations wait for signatures. Throws a RangeError when another one does so under its hash. */
function confirmRelease(call: BridgeCall, hash: Hex): void {
  const { env, peg, network, isActive } = call
  const signing = peg.signing.get()
  const waiting = peg.waiting.get()
  const isDeep = ({ creationBlock }: WaitingRelease) =>
    env.number - creationBlock >= network.pegoutConfirmations
  const release = inOrder(waiting, isActive).find(isDeep)
  if (release === undefined) return
  const key = signingKey(call, release, hash)
  if (isActive('rskip375') && signing.has(key))
    throw new RangeError('a release of this hash waits for signatures')
  peg.signing.set(new Map(signing).set(key, release.transaction))
  peg.waiting.set(waiting.filter((other) => other !== release))
  if (isActive('rskip326')) {
    logReleaseConfirmed(env, [displayedTxid(release.transaction)], [BigInt(release.creationBlock)])
  }
}

/** The method. */
export function updateCollections(call: BridgeCall): Uint8Array {
  const { env } = call
  const hash = creationHash(env)
  if (call.isActive('rskip146')) logCollectionsUpdated(env, [], [BigInt(env.caller)])
  else logEarlyUpdate(env)
  migrateFunds(call, hash)
  makePegouts(call, hash)
  confirmRelease(call, hash)
  updateCreationHeights(call)
  updateSvp(call, hash)
  return EMPTY
}
