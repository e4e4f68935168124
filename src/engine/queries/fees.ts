/** Suggested gas price and hash rates, computed from recent blocks (docs/rpc-reference.md#72-chain). */
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { HeaderOverrides } from '../model.ts'

/** Number of blocks whose gas used decides whether recent prices count. */
const WINDOW = 50
/** Maximum number of mined transactions whose prices are read. */
const PRICES = 512
const HOUR_SECONDS = 3600

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
    for (
      let height = blockchain.head.block.header.number;
      height > blocks.first && prices.length < PRICES;
      height--
    ) {
      const hash = blockchain.headerAt(height)?.hash
      const block = hash === undefined ? undefined : blocks.get(hash)
      for (const transaction of block?.block.transactions ?? []) {
        if (!transaction.isRemasc && prices.length < PRICES) prices.push(transaction.gasPrice)
      }
    }
    prices.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    return prices[Math.floor(prices.length / 4)] ?? 0n
  }

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
      const since = now() - HOUR_SECONDS
      let own = 0n
      let network = 0n
      for (let height = blockchain.head.block.header.number; height > blocks.first; height--) {
        const header = blockchain.headerAt(height)?.header
        if (header === undefined || header.timestamp < since) break
        network += header.difficulty
        if (header.coinbase === coinbase) own += header.difficulty
      }
      return { own: own / BigInt(HOUR_SECONDS), network: network / BigInt(HOUR_SECONDS) }
    },
  }
}
