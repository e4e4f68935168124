/** Opens the peg of a node: the Bitcoin chain of its database, or a new one. */
import { type BitcoinState, createBitcoin } from '../bitcoin/bitcoin.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import type { Store } from '../store/level.ts'
import { BitcoinEntries } from './bitcoin-entries.ts'
import { BitcoinParent } from './bitcoin-parent.ts'
import { Peg } from './peg.ts'

/** What a peg is opened with. */
export interface PegOptions {
  /** Has the entries of the Bitcoin chain, beside those of the node's own. */
  readonly store: Store
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

/** Opens it; `Peg.attach` connects it with the engine. Throws `storage`. */
export async function openPeg(options: PegOptions): Promise<Peg> {
  const { store, state, now: clock, seed, blocksPer, federation: mode, logger } = options
  const entries = state === undefined ? await BitcoinEntries.open(store) : new BitcoinEntries(store)
  const bitcoin = createBitcoin({ clock, seed, store: entries })
  const parent = new BitcoinParent(bitcoin, entries, blocksPer)
  if (state === undefined) parent.begin()
  else entries.adopt(() => bitcoin.restore(state))
  await entries.settled()
  return new Peg({ bitcoin, parent, mode, logger, settled: () => entries.settled() })
}
