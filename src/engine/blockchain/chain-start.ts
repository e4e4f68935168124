/** A chain that begins above block 0, at the height of a loaded state: its first block, and what its rules cannot look at. */
import type { Rules } from '../../chain/activations.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import type { LoadedHead } from '../../chain/state-file/records.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'

/** Blocks at the start of any chain that have no fork detection data (RSKIP-110): it takes headers this far below. */
const WITHOUT_FORK_DETECTION = 449

/**
 * The header of a first block at a height, with this time, minimum gas price and state. The rest is that of block 0; it has
 * no parent and, above block 0, no proof of work.
 */
export function firstHeader(genesis: Header, head: LoadedHead, stateRoot: Hex, config: ChainConfig): Header {
  const own = { ...genesis, ...head, stateRoot }
  if (head.number === 0) return own
  const { verbatim: _, ...fields } = own
  const { headerVersion, umm } = config.rulesAt(head.number)
  return {
    ...fields,
    version: headerVersion,
    ummRoot: umm ? EMPTY : undefined,
    edges: headerVersion === 0 ? undefined : [],
    baseEvent: headerVersion === 2 ? EMPTY : undefined,
    bitcoinHeader: EMPTY,
    merkleProof: EMPTY,
    coinbaseTransaction: EMPTY,
  }
}

/**
 * The constants of a chain that may begin above block 0: what its blocks would take from blocks below the first is left
 * out, as it is in the first blocks of a network: fork detection data, and payouts of collected fees.
 */
export function withChainStart(config: ChainConfig, blocks: Pick<BlockStore, 'first'>): ChainConfig {
  const early = new Map<Rules, Rules>()
  return {
    ...config,
    rulesAt(height) {
      const rules = config.rulesAt(height)
      if (blocks.first === 0 || height - blocks.first >= WITHOUT_FORK_DETECTION) return rules
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
