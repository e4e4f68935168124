/** Where simulated blocks stand: their heights and times, and the empty blocks between them. */
import type { Header } from '../../chain/header.ts'
import { NodeError } from '../../errors.ts'
import type { BlockOverrideValues, StateOverrides } from '../../execution/request.ts'
import type { SimulatedCall } from '../../execution/simulated-transaction.ts'

/** Most blocks of one simulation, those that fill gaps of height included. */
const MAX_BLOCKS = 256

/** A block to simulate. */
export interface SimulatedBlockRequest {
  /** What error messages call it: `payload.blockStateCalls[0]`. */
  readonly name: string
  readonly overrides: BlockOverrideValues
  readonly stateOverrides?: StateOverrides | undefined
  readonly calls: readonly SimulatedCall[]
}

/** A block to simulate with its height and time. */
export interface PlacedBlock extends SimulatedBlockRequest {
  readonly number: number
  readonly timestamp: number
}

/**
 * Gives each block its height and time, and fills gaps of height with empty blocks. `base` is the block below the first,
 * `seconds` the time between two blocks. Throws `block-order`, `timestamp-order`, and `simulation-limit` where there are
 * too many.
 */
export function placedBlocks(
  blocks: readonly SimulatedBlockRequest[],
  base: Header,
  seconds: number,
): readonly PlacedBlock[] {
  const chain: PlacedBlock[] = []
  let { number, timestamp } = base
  for (const block of blocks) {
    const { name } = block
    const { number: height = number + 1, timestamp: time } = block.overrides
    if (height <= number) {
      const words = `block numbers must be in order: ${height} <= ${number}`
      throw new NodeError('block-order', `${words} (${name}.blockOverrides.number)`)
    }
    if (chain.length + height - number > MAX_BLOCKS) {
      throw new NodeError(
        'simulation-limit',
        `too many blocks (${name}: at most ${MAX_BLOCKS} are simulated)`,
      )
    }
    for (number++; number < height; number++) {
      timestamp += seconds
      chain.push({ name, overrides: {}, calls: [], number, timestamp })
    }
    if (time !== undefined && time <= timestamp) {
      const words = `block timestamps must be in order: ${time} <= ${timestamp}`
      throw new NodeError('timestamp-order', `${words} (${name}.blockOverrides.time)`)
    }
    timestamp = time ?? timestamp + seconds
    chain.push({ ...block, number, timestamp })
  }
  return chain
}
