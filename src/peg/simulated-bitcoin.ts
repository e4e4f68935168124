/** The simulated Bitcoin chain as the side of a peg. */
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { outputOf, scriptKey } from '../bitcoin/chain/coin.ts'
import { MATURITY } from '../bitcoin/chain/regtest.ts'
import { bestBlock, knownBlock } from '../bitcoin/chain/state.ts'
import { fromDisplayed } from '../bitcoin/displayed-hash.ts'
import { LocalBitcoinNode } from '../bitcoin/local-node.ts'
import { scriptOfAddress } from '../bitcoin/regtest-address.ts'
import type { BitcoinEntries } from './bitcoin-entries.ts'
import type { BitcoinParent } from './bitcoin-parent.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import { FAUCET_ADDRESS, FAUCET_SCRIPT, type FaucetCoin } from './faucet.ts'

/** The coins of the faucet that can be spent in the next block. */
export async function* faucetCoins({ chain: { state } }: Bitcoin): AsyncGenerator<FaucetCoin> {
  const prefix = scriptKey(FAUCET_SCRIPT)
  const { height } = bestBlock(state)
  for (const [key] of state.coinsOfScripts.entries(prefix)) {
    const place = key.slice(prefix.length)
    const output = state.coins.get(place)
    if (output === undefined || state.spenders.has(place)) continue
    if (output.isCoinbase && height + 1 - output.height < MATURITY) continue
    const { id, index } = outputOf(place)
    yield { output, hash: fromDisplayed(id), index }
  }
}

/** The chain in the process. */
export class SimulatedBitcoin implements BitcoinSide {
  readonly node: LocalBitcoinNode
  readonly parent: BitcoinParent
  readonly simulated: Bitcoin
  readonly origin = undefined
  readonly #entries: BitcoinEntries

  constructor(parent: BitcoinParent, entries: BitcoinEntries) {
    this.simulated = parent.bitcoin
    this.parent = parent
    this.node = new LocalBitcoinNode(parent.bitcoin)
    this.#entries = entries
  }

  firstHeight(): number {
    return 0
  }

  async mine(count: number, address: string): Promise<readonly string[]> {
    const script = scriptOfAddress(address)
    if (script === undefined) throw new RangeError(`${address} is no address`)
    const hashes = this.simulated.mine(count, script)
    await this.settled()
    return hashes
  }

  replace(hash: string, count: number): Promise<readonly string[]> {
    const { chain } = this.simulated
    chain.invalidate(knownBlock(chain.state, hash))
    return this.mine(count, FAUCET_ADDRESS)
  }

  coins(): AsyncIterable<FaucetCoin> {
    return faucetCoins(this.simulated)
  }

  async released(): Promise<void> {}

  async height(): Promise<number> {
    return bestBlock(this.simulated.chain.state).height
  }

  settled(): Promise<void> {
    return this.#entries.settled()
  }

  async close(): Promise<void> {
    await this.settled().catch(() => undefined)
  }
}
