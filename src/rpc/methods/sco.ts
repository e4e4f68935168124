/**
 * The `sco_` methods: scores of callers on other machines, and bans
 * (docs/internals/rpc-reference.md#716-sco).
 */
import { isIP } from 'node:net'
import { z } from 'zod'
import type { PeerRecord } from '../../engine/peers/peer-scoring.ts'
import type { PeerEvent } from '../../engine/peers/score.ts'
import { invalidParams } from '../../errors.ts'
import { plainAddress } from '../../options/addresses.ts'
import { anyText } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'

/** An address or a range; peer scoring decides whether it can be banned. */
const BannedText: Parameter<string> = scalar({
  form: anyText(),
  description: 'IPv4 or IPv6 address, or a range of them: 192.0.2.0/24',
  decode: (value) => value.trim(),
  refusal: (_, name) => expected(name, 'an IP address as text, or a range such as 192.0.2.0/24'),
})

const isPeerId = (id: string): boolean => isIP(id) !== 0 || /^(0x)?[0-9a-f]{128}$/i.test(id)

/** Whose counters to reset. The 64-byte ids of the chain's own peers are accepted, though none of them calls here. */
const PeerId: Parameter<string> = scalar({
  form: anyText({ least: 1, where: (value) => isPeerId(value.trim()) }),
  description: 'IP address of a caller',
  decode: (value) => plainAddress(value.trim()),
  refusal: (_, name) => expected(name, 'an IP address or a node id'),
})

const Counter = z.int().nonnegative()
/** Counters of events between nodes, which callers over JSON-RPC cannot cause. */
const AlwaysZero = Counter.describe('always 0: this node has no peers of the chain’s own protocol')

/** The score of a caller; `punishedUntil` is 0, since a ban has no end of its own. */
const PeerObject = z.lazy(() =>
  z.strictObject({
    id: z.string(),
    type: z.enum(['node', 'address']),
    goodReputation: z.boolean(),
    punishedUntil: Counter.describe('always 0: a ban lasts until it is lifted'),
    successfulHandshakes: Counter,
    failedHandshakes: Counter,
    invalidNetworks: AlwaysZero,
    repeatedMessages: Counter,
    validBlocks: Counter,
    validTransactions: Counter,
    invalidBlocks: Counter,
    invalidTransactions: Counter,
    invalidMessages: Counter,
    timeoutMessages: Counter,
    unexpectedMessages: Counter,
    invalidHeader: AlwaysZero,
    score: z.int(),
    punishments: Counter,
  }),
)

const SummaryObject = z.lazy(() =>
  z.strictObject({
    count: Counter,
    successfulHandshakes: Counter,
    failedHandshakes: Counter,
    invalidHeader: AlwaysZero,
    validBlocks: Counter,
    invalidBlocks: Counter,
    validTransactions: Counter,
    invalidTransactions: Counter,
    invalidNetworks: AlwaysZero,
    invalidMessages: Counter,
    repeatedMessages: Counter,
    timeoutMessages: Counter,
    unexpectedMessages: Counter,
    peersTotalScore: z.int(),
    punishments: Counter,
    goodReputationCount: Counter,
    badReputationCount: Counter,
  }),
)

function toPeerObject({ address, isBanned, score, punishments, ...counters }: PeerRecord) {
  const head = { id: address, type: 'address' as const, goodReputation: !isBanned, punishedUntil: 0 }
  return { ...head, ...counters, score, punishments }
}

function toSummary(peers: readonly PeerRecord[]): z.infer<typeof SummaryObject> {
  const total = (counter: PeerEvent | 'score' | 'punishments') =>
    peers.reduce((sum, peer) => sum + peer[counter], 0)
  const bad = peers.filter(({ isBanned }) => isBanned).length
  return {
    count: peers.length,
    successfulHandshakes: total('successfulHandshakes'),
    failedHandshakes: total('failedHandshakes'),
    invalidHeader: total('invalidHeader'),
    validBlocks: total('validBlocks'),
    invalidBlocks: total('invalidBlocks'),
    validTransactions: total('validTransactions'),
    invalidTransactions: total('invalidTransactions'),
    invalidNetworks: total('invalidNetworks'),
    invalidMessages: total('invalidMessages'),
    repeatedMessages: total('repeatedMessages'),
    timeoutMessages: total('timeoutMessages'),
    unexpectedMessages: total('unexpectedMessages'),
    peersTotalScore: total('score'),
    punishments: total('punishments'),
    goodReputationCount: peers.length - bad,
    badReputationCount: bad,
  }
}

export const sco_banAddress = method({
  name: 'sco_banAddress',
  changesState: true,
  summary: 'Bans an address or a range: its connections are closed, and new ones refused. Kept on disk.',
  params: { address: BannedText },
  result: () => z.null(),
  examples: [{ params: ['203.0.113.0/24'], result: null }],
  async run({ address }, { engine }) {
    if (!(await engine.peers.ban(address))) throw invalidParams(`invalid banned address ${address}`)
    return null
  },
})

export const sco_unbanAddress = method({
  name: 'sco_unbanAddress',
  changesState: true,
  summary: 'Lifts the ban of an address or range.',
  params: { address: BannedText },
  result: () => z.null(),
  examples: [{ params: ['203.0.113.0/24'], result: null }],
  async run({ address }, { engine }) {
    if (!(await engine.peers.unban(address))) throw invalidParams(`invalid banned address ${address}`)
    return null
  },
})

export const sco_bannedAddresses = method({
  name: 'sco_bannedAddresses',
  summary: 'The banned addresses, then the banned ranges.',
  params: {},
  result: () => z.array(z.string()),
  examples: [{ params: [], result: [] }],
  run: (_, { engine }) => [...engine.peers.banned()],
})

export const sco_peerList = method({
  name: 'sco_peerList',
  summary:
    'Event counters and score of each caller on another machine; callers on this machine are not scored.',
  params: {},
  result: () => z.array(PeerObject),
  examples: [{ params: [], result: [] }],
  run: (_, { engine }) => engine.peers.list().map(toPeerObject),
})

export const sco_reputationSummary = method({
  name: 'sco_reputationSummary',
  summary: 'The counters of sco_peerList, summed over all callers.',
  params: {},
  result: () => SummaryObject,
  examples: [{ params: [], result: toSummary([]) }],
  run: (_, { engine }) => toSummary(engine.peers.list()),
})

export const sco_clearPeerScoring = method({
  name: 'sco_clearPeerScoring',
  changesState: true,
  summary: 'Resets the counters of a caller, and returns those of the others; a ban remains.',
  params: { id: PeerId },
  result: () => z.array(PeerObject),
  examples: [{ params: ['203.0.113.7'], result: [] }],
  async run({ id }, { engine }) {
    await engine.peers.clearScore(id)
    return engine.peers.list().map(toPeerObject)
  },
})

const UsageObject = z.lazy(() =>
  z.strictObject({
    key: z.string().describe('name of the API key; empty for calls without one'),
    method: z.string(),
    calls: Counter,
    errors: Counter,
    seconds: z.number().describe('total duration of the calls'),
  }),
)

export const sco_keyUsage = method({
  name: 'sco_keyUsage',
  summary:
    'Calls, errors and seconds by API key and method since the server started; calls of unknown methods count as `unknown`.',
  params: {},
  result: () => z.array(UsageObject),
  examples: [
    {
      params: [],
      result: [{ key: 'ci', method: 'eth_call', calls: 12, errors: 1, seconds: 0.017 }],
      varies: true,
    },
  ],
  run: (_, { usage }) =>
    usage().map(({ key, method: name, classes, errors, seconds }) => ({
      key,
      method: name,
      calls: classes.reduce((sum, count) => sum + count, 0),
      errors: [...errors.values()].reduce((sum, count) => sum + count, 0),
      seconds,
    })),
})

/** The methods of this file, in the order of the document. */
export const SCO_METHODS = [
  sco_banAddress,
  sco_unbanAddress,
  sco_bannedAddresses,
  sco_peerList,
  sco_reputationSummary,
  sco_clearPeerScoring,
  sco_keyUsage,
] as const
