/** Opens the peg of a node: with the Bitcoin chain of its database, a new one, or that of a Bitcoin Core. */
import { type BitcoinState, createBitcoin } from '../bitcoin/bitcoin.ts'
import { decodeHeader } from '../bitcoin/chain/header.ts'
import { GENESIS_BLOCK } from '../bitcoin/chain/regtest.ts'
import type { AccountEdit } from '../engine/dev/state-edits.ts'
import { outsideRecordIn } from '../engine/outside-record.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import type { Store } from '../store/level.ts'
import { BitcoinEntries } from './bitcoin-entries.ts'
import { BitcoinParent, newBitcoin } from './bitcoin-parent.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import { MemberKeys } from './member-keys.ts'
import { Members } from './members.ts'
import { Peg } from './peg.ts'
import { SimulatedBitcoin } from './simulated-bitcoin.ts'

/** Of the first Bitcoin block, seconds since 1970. */
const FIRST_TIME = decodeHeader(GENESIS_BLOCK).time

/** What a peg is opened with. */
export interface PegOptions {
  /** Has the entries of the Bitcoin chain, beside those of the node's own. */
  readonly store: Store
  /** URL of a Bitcoin Core, with user and password, in place of a simulated chain. */
  readonly coreUrl: string | undefined
  /** Where the database is, where that is known: its entries are then not read. */
  readonly state?: BitcoinState | undefined
  /** Seconds since 1970. */
  readonly now: () => number
  /** The wallets' keys are derived from it. */
  readonly seed: Uint8Array
  readonly federation: FederationMode
  /** Blocks of this chain for each Bitcoin block that proves one and is added to its chain; 0 adds none. */
  readonly blocksPer: number
  readonly logger: Logger
  /** Of a node of a cluster. */
  readonly cluster?: PegCluster | undefined
  /** The fork whose federation is replaced. */
  readonly takeover?: TakeoverOptions | undefined
}

/** What a node of a cluster knows. */
export interface PegCluster {
  /** Seconds since 1970: the nodes of a cluster make the same Bitcoin chain. */
  readonly beginsAt: number
  /** Throws `overloaded` unless this node leads. */
  admit(): void
}

/** A fork whose federation is replaced. */
export interface TakeoverOptions {
  readonly remote: RemoteChain
  /** Is the database new? */
  readonly isNew: boolean
  /** Of the accounts of the members, wei. */
  readonly balance: bigint
}

/** Opens it; `Peg.attach` connects it with the engine. Throws `storage`, `upstream`, `invalid-options`. */
export async function openPeg(options: PegOptions): Promise<Peg> {
  const { federation: mode, logger, takeover, now, cluster } = options
  const taken = takeover && (await takeOver(takeover, now))
  const side = await sideOf(options, taken?.first)
  const keys = new MemberKeys(options.store)
  return new Peg({
    side,
    mode,
    keys,
    logger,
    startEdits: taken?.edits,
    admit: cluster && (() => cluster.admit()),
  })
}

/** Where a chain begins whose federation is replaced. */
interface Taken {
  readonly first: BitcoinState
  readonly edits: readonly AccountEdit[]
}

async function takeOver({ remote, balance }: TakeoverOptions, clock: () => number): Promise<Taken> {
  const [{ bridgeEdit, fundingEdits, readUpstreamBridge, takingFederation }, { issueCoins }] =
    await Promise.all([import('./takeover.ts'), import('./issued-coins.ts')])
  const carried = await readUpstreamBridge(remote)
  const { network, ruleHeights } = remote.config
  const place = { network, ruleHeights, number: remote.point.number }
  const federation = takingFederation(place, remote.head.block.header.timestamp)
  const bitcoin = newBitcoin(clock)
  const coins = await issueCoins(bitcoin, carried.coins, federation.outputScript)
  const edits = [
    bridgeEdit(carried, federation, coins, place),
    ...fundingEdits(new Members().addresses, balance),
  ]
  return { first: bitcoin.snapshot(), edits }
}

async function sideOf(options: PegOptions, first: BitcoinState | undefined): Promise<BitcoinSide> {
  const { store, coreUrl: url, blocksPer, logger } = options
  if (url === undefined) return simulated(options, first)
  const { OutsideBitcoin } = await import('./outside-bitcoin.ts')
  return OutsideBitcoin.open({ url, store, blocksPer, logger })
}

async function simulated(
  { store, state, now: clock, seed, blocksPer, takeover, cluster }: PegOptions,
  first: BitcoinState | undefined,
): Promise<SimulatedBitcoin> {
  const entries = state === undefined ? await BitcoinEntries.open(store) : new BitcoinEntries(store)
  if (cluster !== undefined) first ??= newBitcoin(() => Math.max(cluster.beginsAt, FIRST_TIME)).snapshot()
  if (outsideRecordIn(entries.entries()) !== undefined) {
    throw new NodeError(
      'invalid-options',
      'The data directory belongs to the chain of a Bitcoin node: set "bitcoinRpc", or name another directory.',
    )
  }
  if (takeover?.isNew === false && entries.entries().length === 0) {
    throw new NodeError(
      'invalid-options',
      'The data directory holds a fork with the federation of its upstream: leave out "federationTakeover", or name another directory.',
    )
  }
  const bitcoin = createBitcoin({ clock, seed, store: entries })
  const parent = new BitcoinParent(bitcoin, entries, blocksPer, first)
  if (state === undefined) parent.begin()
  else entries.adopt(() => bitcoin.restore(state))
  await entries.settled()
  if (cluster !== undefined) entries.admitBy(() => cluster.admit())
  return new SimulatedBitcoin(parent, entries)
}
