/** A mined transaction by the chain's rules and by a fork of Ethereum. */

import type { RuleComparison } from '../../comparison/compare.ts'
import type { EthereumFork } from '../../comparison/ethereum-forks.ts'
import { invalidParams } from '../../errors.ts'
import type { Vm } from '../../evm/vm.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import type { Queries } from '../engine.ts'
import type { Lookup } from './lookup.ts'
import type { Replays } from './replay.ts'

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly lookup: Lookup
  readonly replays: Pick<Replays, 'replay'>
  /** Milliseconds of wall clock; 0 is no limit. */
  readonly timeoutMs: number
}

/** Makes `compareRules` of the queries. */
export function createComparison(parts: Parts): Queries['compareRules'] {
  const { config, vm, lookup, replays } = parts
  return async function compareRules(
    hash,
    fork: EthereumFork,
    timeoutMs = parts.timeoutMs,
  ): Promise<RuleComparison | undefined> {
    const found = lookup.receipt(hash)
    if (found === undefined) return undefined
    const { transaction, block, index } = found
    if (transaction.isRemasc) {
      throw invalidParams('transaction: the fee-collecting transaction has no equal on Ethereum')
    }
    const began = performance.now()
    const { state } = await replays.replay(block, () => undefined, { lastIndex: index - 1, timeoutMs })
    // Only those who ask pay for loading Ethereum's executor.
    const { compareRules: compare } = await import('../../comparison/compare.ts')
    return compare({
      transaction,
      state,
      env: environmentAt(block.block.header, parts),
      vm,
      chainId: config.chainId,
      fork,
      ...(timeoutMs > 0 && { deadlineMs: began + timeoutMs - performance.now() }),
    })
  }
}
