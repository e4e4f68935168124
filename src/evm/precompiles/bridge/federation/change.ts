/** Votes for a new federation: it is created, filled with members, and committed, each by a majority of the voters. */
import { compressedKey } from '../../../../bitcoin/signature.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import type { BridgeCall, BridgeMethod } from '../method.ts'
import { Election, majorityOf, type Proposal } from '../votes/election.ts'
import { commitPending, pendingHash } from './commitment.ts'
import { type Member, singleKeyMember } from './members.ts'

/** Results of the votes; 1 is success. */
const RESULT = {
  success: 1,
  pendingExists: -1,
  noPending: -1,
  awaitingActivation: -2,
  memberExists: -2,
  tooFewMembers: -2,
  retiringExists: -3,
  otherHash: -3,
  proposedExists: -4,
  unauthorized: -10,
  failed: -10,
} as const

const MIN_MEMBERS = 2

/** What a function changes once it has enough votes; a number when it cannot be executed now. */
type Outcome = number | ((election: Election) => void)

function create({ federationCells, federations }: BridgeCall): Outcome {
  const { pending } = federationCells
  if (pending.get() !== undefined) return RESULT.pendingExists
  if (federations.proposed() !== undefined) return RESULT.proposedExists
  if (federations.isAwaitingActivation()) return RESULT.awaitingActivation
  if (federations.retiring() !== undefined) return RESULT.retiringExists
  return (election) => {
    pending.set([])
    election.clear()
  }
}

function memberOf(keys: readonly Uint8Array[]): Member | undefined {
  const [btc, rsk, mst] = keys.map(compressedKey)
  if (btc === undefined) return undefined
  if (keys.length === 1) return singleKeyMember(btc)
  return rsk && mst && [btc, rsk, mst]
}

function addMember({ federationCells: { pending } }: BridgeCall, keys: readonly Uint8Array[]): Outcome {
  const member = memberOf(keys)
  if (member === undefined) return RESULT.failed
  const members = pending.get()
  if (members === undefined) return RESULT.noPending
  if (members.some((other) => other.some((key, i) => equal(key, member[i] as Uint8Array)))) {
    return RESULT.memberExists
  }
  return () => pending.set([...members, member])
}

function commit(call: BridgeCall, hash: Uint8Array): Outcome {
  const { pending } = call.federationCells
  if (hash.length !== 32) throw new PrecompileFailure('the hash of a federation has 32 bytes')
  const members = pending.get()
  if (members === undefined) return RESULT.noPending
  if (members.length < MIN_MEMBERS) return RESULT.tooFewMembers
  if (!equal(hash, pendingHash(members))) return RESULT.otherHash
  return (election) => commitPending(call, members, election)
}

function rollback({ federationCells: { pending } }: BridgeCall): Outcome {
  if (pending.get() === undefined) return RESULT.noPending
  return (election) => {
    pending.set(undefined)
    election.clear()
  }
}

function execute(call: BridgeCall, { name, args }: Proposal): Outcome {
  if (name === 'create') return create(call)
  if (name === 'add' || name === 'add-multi') return addMember(call, args)
  return name === 'commit' ? commit(call, args[0] as Uint8Array) : rollback(call)
}

/** A vote counts only if what it is for could be executed now. */
function vote(call: BridgeCall, proposal: Proposal): number {
  const { caller } = call.env
  const { federationVoters } = call.network.senders
  if (!federationVoters.has(caller)) return RESULT.unauthorized
  const outcome = execute(call, proposal)
  if (typeof outcome === 'number') return outcome
  const election = new Election(call.store, CELL.federationElection, majorityOf(federationVoters))
  if (!election.vote(proposal, caller)) return RESULT.failed
  if (election.winner() !== undefined) {
    outcome(election)
    election.clearWinner()
  }
  return RESULT.success
}

function voting(
  signature: string,
  gas: bigint,
  { name, count, ...rules }: { name: string; count: number } & Pick<BridgeMethod, 'since' | 'until'>,
): BridgeMethod {
  return {
    signature,
    gas,
    ...rules,
    run: (call) => {
      const args = Array.from({ length: count }, (_, i) => call.args.bytes(i))
      return encodeInt(vote(call, { name, args }))
    },
  }
}

/** The votes. */
export const FEDERATION_CHANGE_METHODS: readonly BridgeMethod[] = [
  voting('createFederation()', 11_000n, { name: 'create', count: 0 }),
  voting('addFederatorPublicKey(bytes)', 13_000n, { name: 'add', count: 1, until: 'rskip123' }),
  voting('addFederatorPublicKeyMultikey(bytes,bytes,bytes)', 13_000n, {
    name: 'add-multi',
    count: 3,
    since: 'rskip123',
  }),
  voting('commitFederation(bytes)', 38_000n, { name: 'commit', count: 1 }),
  voting('rollbackFederation()', 12_000n, { name: 'rollback', count: 0 }),
]
