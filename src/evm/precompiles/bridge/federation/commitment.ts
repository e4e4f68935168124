/** The commitment of a voted federation, and the handover to it. */
import type { IsActive } from '../../../../chain/activations.ts'
import { keccak256 } from '../../../../encoding/hash.ts'
import { frameStrings } from '../../../../encoding/rlp-frame.ts'
import { type FederationFormat, FORMAT } from '../constants/network.ts'
import { logEarlyCommitment } from '../early-events.ts'
import { logFederationCommitted, utf8 } from '../events.ts'
import type { BridgeCall } from '../method.ts'
import type { Election } from '../votes/election.ts'
import { type Federation, joinedKeys, makeFederation } from './federation.ts'
import type { Member } from './members.ts'

/** What a commitment names the pending federation by. */
export function pendingHash(members: readonly Member[]): Uint8Array {
  return keccak256(frameStrings(members.map(([btc]) => btc)))
}

/** The format of federations that are committed now. */
function presentFormat(isActive: IsActive): FederationFormat {
  if (!isActive('rskip201')) return FORMAT.standard
  if (!isActive('rskip353')) return FORMAT.earlyEmergency
  return isActive('rskip305') ? FORMAT.witness : FORMAT.emergency
}

/** Unix milliseconds; before RSKIP-419 the seconds of the block count as milliseconds. */
function creationTime({ env, isActive }: BridgeCall): number {
  return isActive('rskip419') ? env.timestamp * 1000 : env.timestamp
}

/**
 * Makes a federation of the members of the pending one: since RSKIP-419 it is validated first, before it took over at
 * once. Throws a RangeError when there are too many members.
 */
export function commitPending(call: BridgeCall, members: readonly Member[], election: Election): void {
  const { federationCells, federations, isActive, env, network } = call
  const record = {
    format: presentFormat(isActive),
    members,
    creationTime: creationTime(call),
    creationBlock: env.number,
  }
  const voted = makeFederation(record, network, isActive)
  const active = federations.active()
  if (isActive('rskip419')) federationCells.proposed.set(voted)
  else handOver(call, voted)
  federationCells.pending.set(undefined)
  election.clear()
  const before = isActive('rskip419') ? active : (federationCells.oldFederation.get() ?? active)
  logCommitment(call, before, voted)
}

function logCommitment(
  { env, isActive, federations }: BridgeCall,
  before: Federation,
  voted: Federation,
): void {
  const activation = env.number + federations.activationAge
  if (!isActive('rskip146')) {
    logEarlyCommitment(env, before, voted, activation)
    return
  }
  logFederationCommitted(
    env,
    [],
    [joinedKeys(before), utf8(before.address), joinedKeys(voted), utf8(voted.address), BigInt(activation)],
  )
}

/** Makes a federation the newest, active once it is old enough: the active one becomes the old one, with its coins. */
export function handOver({ federationCells, federations, isActive }: BridgeCall, next: Federation): void {
  const { newOutputs, oldOutputs, newFederation, oldFederation } = federationCells
  oldOutputs.set(newOutputs.get())
  newOutputs.set([])
  oldFederation.set(federations.active())
  newFederation.set(next)
  if (!isActive('rskip186')) return
  const active = federations.active()
  federationCells.lastRetiredScript.set(isActive('rskip377') ? active.memberScript : active.outputScript)
  federationCells.nextCreationHeight.set(next.creationBlock)
}
