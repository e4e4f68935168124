/** Votes for a new federation: it is created, filled with members, and committed, each by a majority of the voters. */

import { MAX_KEYS } from '../../../bitcoin/redeem-script.ts'
import { compressedKey } from '../../../bitcoin/signature.ts'
import { FEDERATION_VOTERS } from '../../../chain/bridge-senders.ts'
import { compare, concat, equal, fromBigInt } from '../../../encoding/bytes.ts'
import { keccak256 } from '../../../encoding/hash.ts'
import { asBytes, asList, asNumber, decodeRlp, encodeRlp, type RlpItem } from '../../../encoding/rlp.ts'
import { frameStrings } from '../../../encoding/rlp-frame.ts'
import { CELL } from '../../../state/bridge-cells.ts'
import { encodeInt } from '../abi.ts'
import { PrecompileFailure } from '../precompile.ts'
import { FEDERATION_ACTIVATION_AGE } from './constants.ts'
import { Election, type Proposal } from './election.ts'
import { logFederationCommitted } from './events.ts'
import { FEDERATION, federationOf } from './federation.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'
import type { BridgeStore } from './store.ts'

/** Results of the votes; 1 is success. */
const RESULT = {
  success: 1,
  pendingExists: -1,
  noPending: -1,
  memberExists: -2,
  tooFewMembers: -2,
  otherHash: -3,
  proposedExists: -4,
  unauthorized: -10,
  failed: -10,
} as const

/** Formats of stored federations: of pending ones, and of those with emergency keys behind a witness script. */
const FORMAT = { standard: 1000n, witness: 4000n } as const

const MIN_MEMBERS = 2
const REQUIRED_VOTES = Math.floor(FEDERATION_VOTERS.size / 2) + 1

/** A member's compressed keys: of the parent chain, of this chain, and one without a use yet. */
export type Member = readonly [btc: Uint8Array, rsk: Uint8Array, mst: Uint8Array]

function readMember(item: readonly RlpItem[]): Member {
  const [btc, rsk, mst] = item
  return [asBytes(btc, 'key'), asBytes(rsk, 'key'), asBytes(mst, 'key')]
}

/** Members of the federation that is being voted, in order; `undefined` when there is none. */
export function pendingMembers(store: BridgeStore): readonly Member[] | undefined {
  const bytes = store.read(CELL.pendingFederation)
  if (bytes.length === 0) return undefined
  return asList(decodeRlp(bytes), 'pending federation').map((item) => readMember(asList(item, 'member')))
}

/** A federation that was committed and waits for its validation. */
export interface ProposedFederation {
  readonly members: readonly Member[]
  /** Unix seconds. */
  readonly creationTime: number
  readonly creationBlock: number
}

/** The committed federation; `undefined` when there is none. */
export function proposedFederation(store: BridgeStore): ProposedFederation | undefined {
  const bytes = store.read(CELL.proposedFederation)
  if (bytes.length === 0) return undefined
  const [time, block, members] = asList(decodeRlp(bytes), 'proposed federation')
  return {
    creationTime: Math.floor(asNumber(time, 'creation time') / 1000),
    creationBlock: asNumber(block, 'creation block'),
    members: asList(members, 'members').map((item) =>
      readMember(asList(decodeRlp(asBytes(item, 'member')), 'member')),
    ),
  }
}

function byKeys(a: Member, b: Member): number {
  return compare(concat(...a), concat(...b))
}

/** Keys of the parent chain, in order. */
export function parentKeys(members: readonly Member[]): Uint8Array[] {
  return members.map(([btc]) => btc)
}

/** What a commitment names the pending federation by. */
export function pendingHash(members: readonly Member[]): Uint8Array {
  return keccak256(frameStrings(parentKeys(members)))
}

function writePending(store: BridgeStore, members: readonly Member[]): void {
  store.writeInteger(CELL.pendingFederationVersion, FORMAT.standard)
  store.write(CELL.pendingFederation, encodeRlp(members.toSorted(byKeys)))
}

function clearPending(store: BridgeStore): void {
  store.writeInteger(CELL.pendingFederationVersion, FORMAT.standard)
  store.clear(CELL.pendingFederation)
}

/** What a function changes once it has enough votes; a number when it cannot be executed now. */
type Outcome = number | ((election: Election) => void)

function create({ store }: BridgeCall): Outcome {
  if (pendingMembers(store) !== undefined) return RESULT.pendingExists
  if (proposedFederation(store) !== undefined) return RESULT.proposedExists
  return (election) => {
    writePending(store, [])
    election.clear()
  }
}

function addMember({ store }: BridgeCall, keys: readonly Uint8Array[]): Outcome {
  const [btc, rsk, mst] = keys.map(compressedKey)
  if (btc === undefined || rsk === undefined || mst === undefined) return RESULT.failed
  const member: Member = [btc, rsk, mst]
  const members = pendingMembers(store)
  if (members === undefined) return RESULT.noPending
  if (members.some((other) => other.some((key, i) => equal(key, member[i] as Uint8Array)))) {
    return RESULT.memberExists
  }
  return () => writePending(store, [...members, member])
}

function commit({ store, env }: BridgeCall, hash: Uint8Array): Outcome {
  if (hash.length !== 32) throw new PrecompileFailure('the hash of a federation has 32 bytes')
  const members = pendingMembers(store)
  if (members === undefined) return RESULT.noPending
  if (members.length < MIN_MEMBERS) return RESULT.tooFewMembers
  if (!equal(hash, pendingHash(members))) return RESULT.otherHash
  return (election) => {
    if (members.length > MAX_KEYS) {
      throw new PrecompileFailure(`a federation has at most ${MAX_KEYS} members`)
    }
    const proposed = federationOf(parentKeys(members))
    store.writeInteger(CELL.proposedFederationVersion, FORMAT.witness)
    const time = fromBigInt(BigInt(env.timestamp) * 1000n)
    const list = members.map((member) => frameStrings(member))
    store.write(CELL.proposedFederation, encodeRlp([time, fromBigInt(BigInt(env.number)), list]))
    clearPending(store)
    election.clear()
    const text = new TextEncoder()
    logFederationCommitted(env, undefined, [
      concat(...FEDERATION.publicKeys),
      text.encode(FEDERATION.address),
      concat(...proposed.publicKeys),
      text.encode(proposed.address),
      BigInt(env.number + FEDERATION_ACTIVATION_AGE),
    ])
  }
}

function rollback({ store }: BridgeCall): Outcome {
  if (pendingMembers(store) === undefined) return RESULT.noPending
  return (election) => {
    clearPending(store)
    election.clear()
  }
}

function execute(call: BridgeCall, { name, args }: Proposal): Outcome {
  if (name === 'create') return create(call)
  if (name === 'add-multi') return addMember(call, args)
  return name === 'commit' ? commit(call, args[0] as Uint8Array) : rollback(call)
}

/** A vote counts only if what it is for could be executed now. */
function vote(call: BridgeCall, proposal: Proposal): number {
  const { caller } = call.env
  if (!FEDERATION_VOTERS.has(caller)) return RESULT.unauthorized
  const outcome = execute(call, proposal)
  if (typeof outcome === 'number') return outcome
  const election = new Election(call.store, CELL.federationElection, REQUIRED_VOTES)
  if (!election.vote(proposal, caller)) return RESULT.failed
  if (election.winner() !== undefined) {
    outcome(election)
    election.clearWinner()
  }
  return RESULT.success
}

function voting(signature: string, gas: bigint, name: string, count: number): BridgeMethod {
  return {
    signature,
    gas,
    run: (call) => {
      const args = Array.from({ length: count }, (_, i) => call.args.bytes(i))
      return encodeInt(vote(call, { name, args }))
    },
  }
}

/** The votes. */
export const FEDERATION_CHANGE_METHODS: readonly BridgeMethod[] = [
  voting('createFederation()', 11_000n, 'create', 0),
  voting('addFederatorPublicKeyMultikey(bytes,bytes,bytes)', 13_000n, 'add-multi', 3),
  voting('commitFederation(bytes)', 38_000n, 'commit', 1),
  voting('rollbackFederation()', 12_000n, 'rollback', 0),
]
