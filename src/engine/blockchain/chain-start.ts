/** A chain that begins above block 0, at the height of a loaded state: its first block, and rules that need no earlier blocks. */
import { FORK_DETECTION_HEADERS, type Rules } from '../../chain/activations.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import { emptyLayout } from '../../chain/next-header.ts'
import type { LoadedHead } from '../../chain/state-file/records.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'

/**
 * The header of a first block at a height, with this time, minimum gas price and state. The rest is that of block 0; it has
 * no parent and, above block 0, no proof of work.
 */
export function firstHeader(genesis: Header, head: LoadedHead, stateRoot: Hex, config: ChainConfig): Header {
  const own = { ...genesis, ...head, stateRoot }
  if (head.number === 0) return own
  const { verbatim: _, ...fields } = own
  return { ...fields, ...emptyLayout(head.number, config) }
}

/**
 * The constants of a chain that may begin above block 0. Its first blocks have no fork detection data and no payouts of
 * collected fees, which depend on earlier blocks; nor have the first blocks of a network.
 */
export function withChainStart(config: ChainConfig, blocks: Pick<BlockStore, 'first'>): ChainConfig {
  const early = new Map<Rules, Rules>()
  return {
    ...config,
    rulesAt(height) {
      const rules = config.rulesAt(height)
      if (blocks.first === 0 || height - blocks.first >= FORK_DETECTION_HEADERS) return rules
      let own = early.get(rules)
      if (own === undefined) {
        own = { ...rules, forkDetection: false }
        early.set(rules, own)
      }
      return own
    },
    reward: {
      ...config.reward,
      isPaidAt: (height) => blocks.first === 0 || height - config.reward.maturity > blocks.first,
    },
  }
}
