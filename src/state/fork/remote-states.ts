/** The states of the upstream's blocks in the form of the fork's trie: a few nodes each, which are never on disk. */
import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { CommittedState, NodeSource } from '../model.ts'
import { RecentMap } from '../recent-map.ts'
import type { RemoteBlockId } from '../remote/model.ts'
import { StateTrie } from '../state-trie.ts'
import { forkPointChanges } from './overlay-record.ts'

/** Fewest states that stay readable: more than a fork's history has blocks. */
const STATES = 4_096
/** Nodes of a state, at most: account, contract marker, cell. */
const NODES = 3

const NOTHING: NodeSource = { node: () => undefined, code: () => undefined }

/** Keeps the states that were used last, and for good that of the block on which the fork stands. */
export class RemoteStates {
  readonly #trie = new StateTrie(NOTHING, { cacheNodes: 1 })
  readonly #states = new RecentMap<Hex, CommittedState>(2 * STATES)
  readonly #nodes = new RecentMap<Hex, Uint8Array>(2 * STATES * NODES)
  readonly #point: CommittedState

  /** `point`: the block on which the fork stands. */
  constructor(point: RemoteBlockId) {
    this.#point = this.#trie.commit(EMPTY_TRIE_ROOT, forkPointChanges(point))
    this.#states.set(point.hash, this.#point)
  }

  /** The root of the state after a block; readable from now on, until 4,096 others were asked for. */
  root(block: RemoteBlockId): Hex {
    let state = this.#states.get(block.hash)
    if (state === undefined) {
      state = this.#trie.commit(EMPTY_TRIE_ROOT, forkPointChanges(block))
      this.#states.set(block.hash, state)
    }
    for (const [hash, bytes] of state.nodes) this.#nodes.set(hash, bytes)
    return state.root
  }

  /** The bytes of a node of one of the states. */
  node(hash: Hex): Uint8Array | undefined {
    return this.#point.nodes.get(hash) ?? this.#nodes.get(hash)
  }
}
