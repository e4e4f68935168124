/** What a node that forks another chain has beside its own: the upstream, its history, and the state on demand. */
import { EMPTY_ACCOUNT, withBalance } from '../../chain/account.ts'
import type { Rules } from '../../chain/activations.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { CHAINS, type ChainConfig } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { Demand } from '../../state/fork/demand.ts'
import { ForkTrie } from '../../state/fork/fork-trie.ts'
import type { CommittedState } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import type { RemoteChain } from '../../state/remote/model.ts'
import type { BlockHistory } from '../../store/block-store.ts'
import type { StateNodes } from '../../store/state-nodes.ts'
import { createHistory } from './history.ts'

/** A chain that goes on from a block of another one. */
export interface Fork {
  readonly remote: RemoteChain
  readonly demand: Demand
  readonly trie: ForkTrie
  readonly history: BlockHistory
  /** Another trie over the same store and upstream. */
  openTrie(options: { readonly cacheNodes: number }): ForkTrie
  /** The first block with the state that local blocks build on, in which some accounts have a balance of at least so much. */
  start(toFund: readonly Hex[], balance: bigint): Promise<{ block: ExecutedBlock; state: CommittedState }>
}

/** Makes the fork; `source` has the nodes of what was written since it began. */
export function createFork(remote: RemoteChain, source: StateNodes, sharedRoots: number): Fork {
  const demand = new Demand()
  const parts = { demand, stateAt: remote.stateAt.bind(remote) }
  const trie = new ForkTrie(source, { sharedRoots }, parts)
  return {
    remote,
    demand,
    trie,
    history: createHistory(remote, trie, demand),
    openTrie: (limits) => new ForkTrie(source, limits, parts),
    async start(toFund, balance) {
      const { root } = trie.remoteState(remote.point)
      const state = await demand.run(() => {
        const overlay = new Overlay(trie.reader(root))
        for (const address of toFund) {
          const account = overlay.account(address)
          if (account !== undefined && account.balance >= balance) continue
          overlay.putAccount(address, withBalance(account ?? EMPTY_ACCOUNT, balance))
        }
        return trie.commit(root, overlay.changes())
      })
      return { block: { ...remote.head, postState: state.root }, state }
    },
  }
}

/**
 * The constants of a fork's chain: the upstream's, at a difficulty that a block can be mined at here, and without the
 * fork detection data (RSKIP-110) of local blocks, which would need hundreds of the upstream's headers.
 */
export function forkConfig({ config, point }: RemoteChain): ChainConfig {
  const { difficulty } = CHAINS.regtest
  const localRules = new Map<Rules, Rules>()
  const rulesAt = (height: number): Rules => {
    const rules = config.rulesAt(height)
    if (height <= point.number) return rules
    let own = localRules.get(rules)
    if (own === undefined) {
      own = { ...rules, forkDetection: false }
      localRules.set(rules, own)
    }
    return own
  }
  return {
    ...config,
    rulesAt,
    difficulty: { ...config.difficulty, minimumAt: difficulty.minimumAt, fixed: difficulty.minimumAt(0) },
  }
}
