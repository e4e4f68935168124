/** The figures of Blockscout's API v2: `StatsResponse`. What is not counted here is null. */
import type { Engine } from '../../engine/engine.ts'

/** Blocks of which the figures are a mean. */
const BLOCKS = 100
const GWEI = 1e9

/** The figures of the newest blocks. */
export async function statistics(engine: Engine): Promise<object> {
  const { number, timestamp, minimumGasPrice } = engine.queries.head().block.header
  let [used, limit] = [0n, 0n]
  const lowest = Math.max(Math.min(1, number), number - BLOCKS + 1)
  let oldest = timestamp
  for (let height = number; height >= lowest; height--) {
    const header = (await engine.queries.block({ number: height }))?.executed.block.header
    if (header === undefined) break
    used += header.gasUsed
    limit += header.gasLimit
    oldest = header.timestamp
  }
  const intervals = number - lowest
  const price = Number(engine.queries.gasPrice()) / GWEI
  return {
    total_blocks: String(number + 1),
    total_addresses: null,
    total_transactions: null,
    total_gas_used: null,
    transactions_today: null,
    gas_used_today: null,
    average_block_time: intervals > 0 ? ((timestamp - oldest) * 1000) / intervals : 0,
    gas_prices: { slow: Number(minimumGasPrice) / GWEI, average: price, fast: price },
    network_utilization_percentage: limit === 0n ? 0 : (100 * Number(used)) / Number(limit),
    static_gas_price: null,
    coin_price: null,
    market_cap: null,
  }
}
