/** Suggested gas price and hash rates, computed from recent blocks (docs/internals/rpc-reference.md#72-chain). */
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { HeaderOverrides } from '../model.ts'
import { RecentBlocks } from './recent-blocks.ts'

/** Number of last blocks whose gas used decides whether the prices of mined transactions count. */
const FULLNESS_BLOCKS = 50
/** Maximum number of mined transactions whose prices are read, and of blocks that are searched for them. */
const MAX_PRICES = 512
const MAX_PRICE_BLOCKS = 4096

const HOUR_SECONDS = 3600n

interface Parts extends ChainAccess {
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** Least price to suggest, wei per gas. */
  readonly leastGasPrice: bigint
  /** Fixed fields of the next header. */
  readonly headerOverrides: () => HeaderOverrides
}

/** Suggests gas prices (wei per gas) and computes hash rates (hashes per second). */
export class Fees {
  readonly #parts: Parts
  readonly #lastHour: RecentBlocks

  constructor(parts: Parts) {
    this.#parts = parts
    this.#lastHour = new RecentBlocks(parts, Number(HOUR_SECONDS))
  }

  gasPrice(): bigint {
    const { blockchain, headerOverrides, leastGasPrice } = this.#parts
    const minimum = headerOverrides().minimumGasPrice ?? blockchain.head.block.header.minimumGasPrice
    const usual = (minimum * 11n) / 10n
    const floor = usual > leastGasPrice ? usual : leastGasPrice
    if (!this.#areBlocksFull()) return floor
    const market = this.#lowerQuartile()
    return market > floor ? market : floor
  }

  hashrate(coinbase: Hex): { readonly own: bigint; readonly network: bigint } {
    const difficulties = this.#lastHour.upToNow()
    let network = 0n
    for (const difficulty of difficulties.values()) network += difficulty
    const own = difficulties.get(coinbase) ?? 0n
    return { own: own / HOUR_SECONDS, network: network / HOUR_SECONDS }
  }

  /** Whether the last blocks used at least nine tenths of their gas, so that the price decides what is mined. */
  #areBlocksFull(): boolean {
    const { blockchain, blocks } = this.#parts
    const top = blockchain.head.block.header.number
    if (top - blocks.first < FULLNESS_BLOCKS) return false
    let used = 0n
    let limit = 0n
    for (let height = top; height > top - FULLNESS_BLOCKS; height--) {
      const header = blockchain.headerAt(height)?.header
      used += header?.gasUsed ?? 0n
      limit += header?.gasLimit ?? 0n
    }
    return used * 10n >= limit * 9n
  }

  /** Lower quartile of the gas prices of recent transactions, wei per gas. */
  #lowerQuartile(): bigint {
    const { blockchain, blocks } = this.#parts
    const prices: bigint[] = []
    const top = blockchain.head.block.header.number
    const lowest = Math.max(blocks.first, top - MAX_PRICE_BLOCKS)
    for (let height = top; height > lowest && prices.length < MAX_PRICES; height--) {
      const hash = blockchain.hashAt(height)
      const block = hash === undefined ? undefined : blocks.get(hash)
      for (const transaction of block?.block.transactions ?? []) {
        if (!transaction.isRemasc && prices.length < MAX_PRICES) prices.push(transaction.gasPrice)
      }
    }
    prices.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    return prices[Math.floor(prices.length / 4)] ?? 0n
  }
}
