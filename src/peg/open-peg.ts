/** Opens the peg of a node: with the Bitcoin chain of its database, a new one, or that of a Bitcoin Core. */
import { type BitcoinState, createBitcoin } from '../bitcoin/bitcoin.ts'
import { outsideRecordIn } from '../engine/outside-record.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import type { Store } from '../store/level.ts'
import { BitcoinEntries } from './bitcoin-entries.ts'
import { BitcoinParent } from './bitcoin-parent.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import { Peg } from './peg.ts'
import { SimulatedBitcoin } from './simulated-bitcoin.ts'

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
}

/** Opens it; `Peg.attach` connects it with the engine. Throws `storage`, `upstream`, `invalid-options`. */
export async function openPeg(options: PegOptions): Promise<Peg> {
  const { federation: mode, logger } = options
  return new Peg({ side: await sideOf(options), mode, logger })
}

async function sideOf(options: PegOptions): Promise<BitcoinSide> {
  const { store, coreUrl: url, blocksPer, logger } = options
  if (url === undefined) return simulated(options)
  const { OutsideBitcoin } = await import('./outside-bitcoin.ts')
  return OutsideBitcoin.open({ url, store, blocksPer, logger })
}

async function simulated({
  store,
  state,
  now: clock,
  seed,
  blocksPer,
}: PegOptions): Promise<SimulatedBitcoin> {
  const entries = state === undefined ? await BitcoinEntries.open(store) : new BitcoinEntries(store)
  if (outsideRecordIn(entries.entries()) !== undefined) {
    throw new NodeError(
      'invalid-options',
      'The data directory belongs to the chain of a Bitcoin node: set "bitcoinRpc", or name another directory.',
    )
  }
  const bitcoin = createBitcoin({ clock, seed, store: entries })
  const parent = new BitcoinParent(bitcoin, entries, blocksPer)
  if (state === undefined) parent.begin()
  else entries.adopt(() => bitcoin.restore(state))
  await entries.settled()
  return new SimulatedBitcoin(parent, entries)
}
