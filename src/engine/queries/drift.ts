/** A mined transaction by the chain's rules and by a fork of Ethereum. */
import { invalidParams } from '../../errors.ts'
import type { Drift } from '../../execution/drift/compare-rules.ts'
import type { EthereumFork } from '../../execution/ethereum-forks.ts'
import type { Machine } from '../../execution/machine.ts'
import { type ChainAccess, environmentAt } from '../ancestry.ts'
import type { Queries } from '../engine.ts'
import type { Lookup } from './lookup.ts'
import type { Replays } from './replay.ts'

interface Parts extends ChainAccess {
  readonly machine: Machine
  readonly lookup: Lookup
  readonly replays: Pick<Replays, 'replay'>
  /** Milliseconds of wall clock; 0 is no limit. */
  readonly timeoutMs: number
}

/** Makes `compareRules` of the queries. */
export function createDrift(parts: Parts): Queries['compareRules'] {
  const { config, machine, lookup, replays } = parts
  return async function compareRules(
    hash,
    fork: EthereumFork,
    timeoutMs = parts.timeoutMs,
  ): Promise<Drift | undefined> {
    const found = lookup.receipt(hash)
    if (found === undefined) return undefined
    const { transaction, block, index } = found
    if (transaction.isReward) {
      throw invalidParams('transaction: the fee-collecting transaction has no equal on Ethereum')
    }
    const began = performance.now()
    const { state } = await replays.replay(block, () => undefined, { lastIndex: index - 1, timeoutMs })
    // Only those who ask pay for loading Ethereum's executor.
    const { compareRules: compare } = await import('../../execution/drift/compare-rules.ts')
    return compare({
      transaction,
      state,
      env: environmentAt(block.block.header, parts),
      machine,
      chainId: config.chainId,
      fork,
      ...(timeoutMs > 0 && { deadlineMs: began + timeoutMs - performance.now() }),
    })
  }
}
