/** Takes blocks in and makes the chain with the most work the best one. */

import { displayed } from '../displayed-hash.ts'
import type { Block } from './block.ts'
import { blockHash } from './block.ts'
import { checkBlock, checkHeader, checkInContext, checkWork } from './block-rules.ts'
import { connect, disconnect, type KnownScripts } from './connection.ts'
import { RuleViolation, requireRule } from './rule-violation.ts'
import { bestBlock, type ChainState, isActive, knownBlock, type StoredBlock, storedBlock } from './state.ts'

/** What a change of the best chain did. */
export interface Activation {
  readonly state: ChainState
  /** Taken off, the last first. */
  readonly removed: readonly StoredBlock[]
  /** In the order of their heights. */
  readonly added: readonly StoredBlock[]
  /** Why the block that was to be added last is invalid. */
  readonly violation: RuleViolation | undefined
}

function withInvalid(state: ChainState, hash: string, isInvalid: boolean): ChainState {
  const block = knownBlock(state, hash)
  return { ...state, blocks: state.blocks.put(hash, { ...block, isInvalid }) }
}

/** Blocks from a tip back to the first that fits, that one not included. */
function* backFrom(state: ChainState, tip: StoredBlock): Generator<StoredBlock> {
  for (let block: StoredBlock | undefined = tip; block !== undefined; block = state.blocks.get(block.parent))
    yield block
}

/** The last valid block of the branch that ends with a tip. */
function lastValid(state: ChainState, tip: StoredBlock): StoredBlock {
  for (const block of backFrom(state, tip)) if (!block.isInvalid) return block
  throw new Error('The first block is invalid.')
}

/** The valid block with the most work; of equals the one that came first. */
function mostWork(state: ChainState): StoredBlock {
  let best = lastValid(state, bestBlock(state))
  for (const [hash] of state.tips.entries()) {
    const candidate = lastValid(state, knownBlock(state, hash))
    const isBetter =
      candidate.work === best.work ? candidate.arrival < best.arrival : candidate.work > best.work
    if (isBetter) best = candidate
  }
  return best
}

/** The blocks that lead to a target from the best chain, and the last block of that which stays. */
function routeTo(state: ChainState, target: StoredBlock): { fork: StoredBlock; path: StoredBlock[] } {
  const path: StoredBlock[] = []
  for (const block of backFrom(state, target)) {
    if (isActive(state, block)) return { fork: block, path: path.reverse() }
    path.push(block)
  }
  throw new Error('The block has no ancestor on the best chain.')
}

/** Marks the block and all that follow it. */
function markBranch(state: ChainState, root: StoredBlock, isInvalid: boolean): ChainState {
  let marked = withInvalid(state, root.hash, isInvalid)
  for (const [tip] of state.tips.entries()) {
    const branch: string[] = []
    for (const block of backFrom(state, knownBlock(state, tip))) {
      if (block.height < root.height) break
      branch.push(block.hash)
    }
    if (branch.at(-1) === root.hash)
      marked = branch.reduce((next, hash) => withInvalid(next, hash, isInvalid), marked)
  }
  return marked
}

/** One try: the chain to the target, or with its first invalid block marked as such. */
function advance(state: ChainState, target: StoredBlock, isKnown: KnownScripts): Activation {
  const { fork, path } = routeTo(state, target)
  const removed: StoredBlock[] = []
  let next = state
  while (next.best !== fork.hash) {
    removed.push(bestBlock(next))
    next = disconnect(next)
  }
  const added: StoredBlock[] = []
  for (const block of path) {
    try {
      next = connect(next, block, isKnown)
      added.push(bestBlock(next))
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error
      return { state: markBranch(state, block, true), removed: [], added: [], violation: error }
    }
  }
  return { state: next, removed, added, violation: undefined }
}

/** The state whose best chain is the valid one with the most work. */
export function activateBest(state: ChainState, isKnown: KnownScripts): Activation {
  let current = state
  let violation: RuleViolation | undefined
  for (;;) {
    const activation = advance(current, mostWork(current), isKnown)
    violation = activation.violation ?? violation
    if (activation.violation === undefined) return { ...activation, violation }
    current = activation.state
  }
}

/** Adds the block to those known, without making it the best. `now`: seconds since 1970. Throws a `RuleViolation`. */
export function acceptBlock(state: ChainState, block: Block, now: number): ChainState {
  const hash = blockHash(block)
  const known = state.blocks.get(hash)
  if (known !== undefined) throw new RuleViolation(known.isInvalid ? 'duplicate-invalid' : 'duplicate')
  checkWork(block.header)
  const parent = state.blocks.get(displayed(block.header.previous))
  if (parent === undefined) throw new RuleViolation('prev-blk-not-found')
  requireRule(!parent.isInvalid, 'bad-prevblk')
  checkHeader(state, block.header, parent, now)
  checkBlock(block)
  checkInContext(state, block, parent)
  return {
    ...state,
    blocks: state.blocks.put(hash, storedBlock(block, parent, state.arrivals)),
    tips: state.tips.delete(parent.hash).put(hash, true),
    arrivals: state.arrivals + 1,
  }
}

/** Declares a block, and all that follow it, invalid. */
export function invalidated(state: ChainState, block: StoredBlock): ChainState {
  return markBranch(state, block, true)
}

/** Takes back that a block, its ancestors and all that follow it are invalid. */
export function reconsidered(state: ChainState, block: StoredBlock): ChainState {
  let next = markBranch(state, block, false)
  for (const ancestor of backFrom(state, block))
    if (ancestor.isInvalid) next = withInvalid(next, ancestor.hash, false)
  return next
}
