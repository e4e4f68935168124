/**
 * Blocks as the dialects of Hardhat and Anvil name them: Ethereum's tags `safe` and `finalized`, which this chain does not
 * have, are the blocks that those nodes return, and some methods read the pending block where a call names none.
 */
import { toQuantity } from '../encoding/hex.ts'
import { isObject } from '../encoding/json-object.ts'
import type { Dialect } from './dialects.ts'

/** How many blocks below the head Anvil's tags are: one and two epochs. */
const ANVIL_DEPTH: Readonly<Record<string, number>> = { safe: 32, finalized: 64 }

const isTag = (value: unknown): value is string => value === 'safe' || value === 'finalized'

/** Parameters with the tags replaced, at the top and as the bounds of a filter; `head` is called only if there is a tag. */
export function withoutFinality(
  params: readonly unknown[],
  dialect: Exclude<Dialect, 'rsk'>,
  head: () => number,
): readonly unknown[] {
  const named = (tag: string): string =>
    dialect === 'hardhat' ? 'latest' : toQuantity(Math.max(0, head() - (ANVIL_DEPTH[tag] ?? 0)))
  return params.map((value) => {
    if (isTag(value)) return named(value)
    if (!isObject(value)) return value
    const { fromBlock, toBlock } = value
    if (!isTag(fromBlock) && !isTag(toBlock)) return value
    return {
      ...value,
      ...(isTag(fromBlock) && { fromBlock: named(fromBlock) }),
      ...(isTag(toBlock) && { toBlock: named(toBlock) }),
    }
  })
}

/** Parameters with the pending block at position `at` where they name none. */
export function withPendingBlock(params: readonly unknown[], at: number): readonly unknown[] {
  if (params.length < at || (params[at] ?? null) !== null) return params
  return [...params.slice(0, at), 'pending', ...params.slice(at + 1)]
}
