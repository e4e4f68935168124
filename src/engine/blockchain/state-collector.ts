/**
 * Drops trie nodes and code that no block, snapshot or running call needs any more, from a store in memory: after states left
 * the chain, what the others are made of is kept, a little with each command, and then the rest is dropped. The cost of a
 * command grows by a share of what it writes, and nothing runs beside the commands.
 */
import type { Hex } from '../../encoding/hex.ts'
import { decodeNode, TrieNode } from '../../encoding/trie-node.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { CollectedStates } from '../../store/collected-table.ts'
import { LeftStates } from './left-states.ts'

/**
 * Entries that a command looks at for each one that it writes: a collection ends before a third of the entries that it
 * keeps was written anew.
 */
const ENTRIES_PER_WRITE = 4
/** Entries that a command looks at, at most: below 10 ms of work. */
const MOST_STEP = 4_096

interface Parts {
  readonly states: CollectedStates
  readonly blocks: Pick<BlockStore, 'first' | 'rootsAt'>
  /** Runs after entries were dropped: what was read of them should not be kept in caches. */
  readonly onDropped: () => void
}

/** Collects the states of one chain. */
export class StateCollector {
  readonly #states: CollectedStates
  readonly #blocks: Parts['blocks']
  readonly #onDropped: () => void
  readonly #left = new LeftStates()
  readonly #otherRoots: (() => Iterable<Hex>)[] = [() => this.#left.roots()]
  /** Entries that the last collection kept. */
  #live = 0
  /** Has a state left the chain since the last collection began? */
  #hasGarbage = false
  #isRunning = false
  /** Entries when the last command had ended. */
  #size: number
  /** Trie nodes to keep, with what they refer to; and nodes that were written meanwhile. */
  #waiting: Hex[] = []
  #written: Uint8Array[] = []
  /** The height whose blocks' states are kept next. */
  #height = 0

  constructor({ states, blocks, onDropped }: Parts) {
    this.#states = states
    this.#blocks = blocks
    this.#onDropped = onDropped
    this.#size = this.#entries
  }

  /** Adds roots beside those of the stored blocks; asked for when a collection is about to end. */
  addRoots(roots: () => Iterable<Hex>): void {
    this.#otherRoots.push(roots)
  }

  /** Keeps all states that are there now until the result is called. */
  hold(): () => void {
    return this.#left.begin()
  }

  /** States have left the chain, whose head has now the state at `head`, which may be an earlier one. */
  left(roots: Iterable<Hex>, head: Hex): void {
    this.#hasGarbage = true
    this.#left.add(roots)
    if (this.#isRunning) this.#waiting.push(head)
  }

  /**
   * Goes on with the collection, or begins one when that is due. To be called between commands: all that was written is
   * then part of a state that is reachable, or will not be used.
   */
  step(): void {
    if (!this.#isRunning && !this.#begin()) return
    for (const bytes of this.#states.nodes.takeWritten()) this.#written.push(bytes)
    const written = Math.max(0, this.#entries - this.#size)
    let budget = Math.min(MOST_STEP, this.#states.pace.leastStep + ENTRIES_PER_WRITE * written)
    for (; budget > 0 && this.#isRunning; budget--) this.#keepNext()
    this.#size = this.#entries
  }

  get #entries(): number {
    return this.#states.nodes.size + this.#states.code.size
  }

  #begin(): boolean {
    const least = Math.max(this.#states.pace.leastNew, this.#live)
    if (!this.#hasGarbage || this.#entries - this.#live < least) return false
    this.#isRunning = true
    this.#hasGarbage = false
    this.#height = this.#blocks.first
    this.#states.nodes.begin()
    this.#states.code.begin()
    this.#size = 0
    return true
  }

  /** Keeps one trie node, or what one refers to, or finds the next ones to keep. */
  #keepNext(): void {
    const hash = this.#waiting.pop()
    if (hash !== undefined) {
      this.#keepNode(hash)
      return
    }
    const written = this.#written.pop()
    if (written !== undefined) {
      this.#keepBelow(decodeNode(written))
      return
    }
    const roots = this.#blocks.rootsAt(this.#height)
    if (roots.length > 0) {
      this.#height++
      this.#waiting.push(...roots)
      return
    }
    // Last, and at once: until here a root may have passed from a block to a snapshot or to a running call.
    for (const others of this.#otherRoots) for (const root of others()) this.#keepNode(root)
    if (this.#waiting.length === 0) this.#finish()
  }

  #keepNode(hash: Hex): void {
    const bytes = this.#states.nodes.keep(hash)
    if (bytes !== undefined) this.#keepBelow(decodeNode(bytes))
  }

  /** What a node refers to; embedded children are part of it. */
  #keepBelow({ left, right, value }: TrieNode): void {
    for (const child of [left, right]) {
      if (child instanceof TrieNode) this.#keepBelow(child)
      else if (child !== undefined) this.#waiting.push(child.hex)
    }
    if (value !== undefined && !(value instanceof Uint8Array)) this.#states.code.keep(value.hash.hex)
  }

  #finish(): void {
    this.#states.nodes.finish()
    this.#states.code.finish()
    this.#live = this.#entries
    this.#isRunning = false
    this.#onDropped()
  }
}
