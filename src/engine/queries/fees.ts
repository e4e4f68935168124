/** Suggested gas price and hash rates, computed from recent blocks (docs/internals/rpc-reference.md#72-chain). */
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { HeaderOverrides } from '../model.ts'
import { createRecentBlocks } from './recent-blocks.ts'

/** Number of blocks whose gas used decides whether recent prices count. */
const WINDOW = 50
/** Maximum number of mined transactions whose prices are read. */
const PRICES = 512
/** Maximum number of blocks in which they are looked for. */
const PRICE_BLOCKS = 4096

const HOUR_SECONDS = 3600n

/** Suggested gas price (wei per gas) and hash rates (hashes per second). */
export interface Fees {
  gasPrice(): bigint
  hashrate(coinbase: Hex): { readonly own: bigint; readonly network: bigint }
}

interface Parts extends ChainAccess {
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** Least price to suggest, wei per gas. */
  readonly leastGasPrice: bigint
  /** Fixed fields of the next header. */
  readonly headerOverrides: () => HeaderOverrides
}

/** Makes the queries. */
export function createFees({ blockchain, blocks, now, leastGasPrice, headerOverrides }: Parts): Fees {
  /** Whether the last blocks used at least nine tenths of their gas, so that the price decides what is mined. */
  function areBlocksFull(): boolean {
    const top = blockchain.head.block.header.number
    if (top - blocks.first < WINDOW) return false
    let used = 0n
    let limit = 0n
    for (let height = top; height > top - WINDOW; height--) {
      const header = blockchain.headerAt(height)?.header
      used += header?.gasUsed ?? 0n
      limit += header?.gasLimit ?? 0n
    }
    return used * 10n >= limit * 9n
  }

  /** Lower quartile of the gas prices of recent transactions, wei per gas. */
  function lowerQuartile(): bigint {
    const prices: bigint[] = []
    const top = blockchain.head.block.header.number
    const lowest = Math.max(blocks.first, top - PRICE_BLOCKS)
    for (let height = top; height > lowest && prices.length < PRICES; height--) {
      const hash = blockchain.headerAt(height)?.hash
      const block = hash === undefined ? undefined : blocks.get(hash)
      for (const transaction of block?.block.transactions ?? []) {
        if (!transaction.isRemasc && prices.length < PRICES) prices.push(transaction.gasPrice)
      }
    }
    prices.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    return prices[Math.floor(prices.length / 4)] ?? 0n
  }

  const lastHour = createRecentBlocks({ blockchain, blocks, now }, Number(HOUR_SECONDS))

  return {
    gasPrice() {
      const minimum = headerOverrides().minimumGasPrice ?? blockchain.head.block.header.minimumGasPrice
      const usual = (minimum * 11n) / 10n
      const floor = usual > leastGasPrice ? usual : leastGasPrice
      if (!areBlocksFull()) return floor
      const market = lowerQuartile()
      return market > floor ? market : floor
    },
    hashrate(coinbase) {
      const difficulties = lastHour.upToNow()
      let network = 0n
      for (const difficulty of difficulties.values()) network += difficulty
      const own = difficulties.get(coinbase) ?? 0n
      return { own: own / HOUR_SECONDS, network: network / HOUR_SECONDS }
    },
  }
}
