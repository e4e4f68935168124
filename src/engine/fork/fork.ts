/** What a node that forks another chain has beside its own: the upstream, its history, and the state on demand. */
import { EMPTY_ACCOUNT, withBalance } from '../../chain/account.ts'
import type { Rules } from '../../chain/activations.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { CHAINS, type ChainConfig } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { Demand } from '../../state/fork/demand.ts'
import { ForkTrie } from '../../state/fork/fork-trie.ts'
import { RemoteStates } from '../../state/fork/remote-states.ts'
import type { CommittedState } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import type { RemoteBlockId, RemoteChain } from '../../state/remote/model.ts'
import type { BlockHistory } from '../../store/block-store.ts'
import type { StateNodes } from '../../store/state-nodes.ts'
import { type AccountEdit, applyEdits } from '../dev/state-edits.ts'
import { ForkHistory } from './history.ts'
import { ForkPayouts } from './payouts.ts'

/** What a fork changes of the upstream's state before its first block. */
interface StartChanges {
  readonly toFund: readonly Hex[]
  /** What each of them has at least, wei. */
  readonly balance: bigint
  readonly edits: readonly AccountEdit[]
}

/** A chain on top of a block of another chain. */
export interface Fork {
  readonly remote: RemoteChain
  /** Whether the whole state after the fork's block is stored here: state roots are then real, and nothing is fetched. */
  readonly isExact: boolean
  readonly demand: Demand
  readonly trie: ForkTrie
  readonly history: BlockHistory
  /** Prepares the payout of the block at a height. Throws `UpstreamDelay`. */
  preparePayout(height: number): Promise<void>
  /**
   * The block of the upstream in whose state an account is as it is after `block`; `undefined` where the proof can be made
   * here. Throws `invalid-params` when the account was written since: the state of a fork that is not exact has no real root.
   */
  provableAt(block: ExecutedBlock, address: Hex): RemoteBlockId | undefined
  /** Another trie over the same store and upstream. */
  openTrie(options: { readonly cacheNodes: number }): ForkTrie
  /** The first block, with the state that local blocks build on. */
  start(changes: StartChanges): Promise<{ block: ExecutedBlock; state: CommittedState }>
}

/** The chain and the block that a fork is based on, as users see it. */
export interface ForkOrigin {
  /** The upstream's URL without user, password, path and query. */
  readonly upstream: string
  readonly chainId: number
  /** Height and hash of the upstream's block below the fork. */
  readonly block: number
  readonly hash: Hex
}

/** The origin of a fork. */
export function originOf({ remote }: Pick<Fork, 'remote'>): ForkOrigin {
  const { chainId, number, hash } = remote.point
  return { upstream: remote.upstream.origin, chainId, block: number, hash }
}

interface ForkParts {
  readonly remote: RemoteChain
  readonly source: StateNodes
  readonly sharedRoots: number
  readonly config: ChainConfig
  readonly logger: Logger
  readonly unpaid: Set<number>
}

/** Makes the fork; `source` has the trie nodes that were written since it began. */
export function createFork({ remote, source, sharedRoots, config, logger, unpaid }: ForkParts): Fork {
  const demand = new Demand(createPointCheck(remote, logger), () => remote.waitLimit())
  const remoteStates = new RemoteStates(remote.point)
  const parts = { demand, remoteStates, stateAt: remote.stateAt.bind(remote) }
  const trie = new ForkTrie(source, { sharedRoots }, parts)
  const history = new ForkHistory(remote, remoteStates, demand)
  const payouts = new ForkPayouts({ remote, history, demand, config, logger, unpaid })
  const { stateRoot } = remote.head.block.header
  // An import writes the root last, so all nodes below it are stored as well. States that were read have synthetic roots.
  const isExact = source.node(stateRoot) !== undefined
  return {
    remote,
    isExact,
    demand,
    trie,
    history,
    preparePayout: (height) => payouts.prepare(height),
    provableAt({ hash, block: { header }, postState }, address) {
      const { number } = header
      if (number < remote.point.number) return { number, hash }
      if (isExact) return undefined
      if (!trie.isWritten(postState, address)) return remote.point
      throw invalidParams(
        `address: ${address} was written since the fork began at block ${remote.point.number}, and the state of a fork has no true root to prove it against`,
      )
    },
    openTrie: (limits) => new ForkTrie(source, limits, parts),
    async start({ toFund, balance, edits }) {
      const root = isExact ? stateRoot : remoteStates.root(remote.point)
      const state = await demand.run(() => {
        const overlay = new Overlay(trie.reader(root))
        // An exact state keeps the root of its header, except for the edits of the options.
        for (const address of isExact ? [] : toFund) {
          const account = overlay.account(address)
          if (account !== undefined && account.balance >= balance) continue
          overlay.putAccount(address, withBalance(account ?? EMPTY_ACCOUNT, balance))
        }
        applyEdits(overlay, edits)
        return trie.commit(root, overlay.changes())
      })
      return { block: { ...remote.head, postState: state.root }, state }
    },
  }
}

/** Milliseconds between two checks that the upstream still has the fork's block. */
const POINT_CHECK_MS = 60_000

/** Makes a check to call after fetches: it logs once when the fork's block has left the upstream's chain. */
function createPointCheck(remote: RemoteChain, logger: Logger): () => void {
  let last = performance.now()
  let isLeft = false
  return () => {
    const now = performance.now()
    if (isLeft || now - last < POINT_CHECK_MS) return
    last = now
    const check = async () => {
      isLeft = !(await remote.isPointCanonical())
      if (!isLeft) return
      const { number, hash } = remote.point
      logger.warn(
        `the upstream reorganised: block ${number} (${hash}), on which this fork is based, is no longer on its chain; the fork continues unchanged, evm_reset with forking starts another one`,
      )
    }
    // A failing upstream is reported by the reads that need it.
    check().catch(() => {})
  }
}

/**
 * The constants of a fork's chain: the upstream's, at a difficulty that a block can be mined at here, and without the
 * fork detection data (RSKIP-110) of local blocks, which would need hundreds of the upstream's headers. Blocks at the
 * heights `unpaid` leave out the payout of collected fees.
 */
export function forkConfig(
  { config, point }: Pick<RemoteChain, 'config' | 'point'>,
  unpaid: ReadonlySet<number>,
): ChainConfig {
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
    forkedAt: point.number,
    rulesAt,
    reward: { ...config.reward, isPaidAt: (height) => !unpaid.has(height) },
    difficulty: { ...config.difficulty, minimumAt: difficulty.minimumAt, fixed: difficulty.minimumAt(0) },
  }
}
