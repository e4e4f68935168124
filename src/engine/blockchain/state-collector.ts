/**
 * Drops trie nodes and code that no block, snapshot or running call needs, from a store in memory. After states left the
 * chain, the nodes and code of all other states are marked, some of them after each command; then the rest is dropped. The
 * added cost of a command is proportional to what it writes, and nothing runs between commands.
 */
import { keccakHex } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import { decodeNode, TrieNode } from '../../encoding/trie-node.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { CollectedStates } from '../../store/collected-table.ts'
import { LeftStates } from './left-states.ts'

/**
 * Number of entries marked for each entry that a command writes: a collection ends before the commands have written a third
 * as many entries as it keeps.
 */
const ENTRIES_PER_WRITE = 4
/** Maximum number of entries marked after a command: below 10 ms of work. */
const MOST_STEP = 4_096

interface Parts {
  readonly states: CollectedStates
  readonly blocks: Pick<BlockStore, 'first' | 'rootsAt'>
  /** Runs after entries were dropped, so that caches can drop them too. */
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
  /** Trie nodes to mark with what they refer to, and nodes that were written since the collection began. */
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

  /** Adds roots beside those of the stored blocks; read when a collection is about to end. */
  addRoots(roots: () => Iterable<Hex>): void {
    this.#otherRoots.push(roots)
  }

  /** Keeps all present states until the returned function is called. */
  hold(): () => void {
    return this.#left.begin()
  }

  /** States have left the chain, whose head now has the state at `head`, which may be an earlier one. */
  left(roots: Iterable<Hex>, head: Hex): void {
    this.#hasGarbage = true
    this.#left.add(roots)
    if (this.#isRunning) this.#waiting.push(head)
  }

  /**
   * Continues the collection, or begins one when it is due. To be called between commands: everything written is then part
   * of a reachable state, or will not be used.
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
    // Last, and all at once: before, a root could have moved from a block to a snapshot or to a running call.
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
    if (value === undefined) return
    if (!(value instanceof Uint8Array)) this.#states.code.keep(value.hash.hex)
    // A value of at most 32 bytes stands in the node; it may be code, which is stored under its hash all the same.
    else if (left === undefined && right === undefined) this.#states.code.keep(keccakHex(value))
  }

  #finish(): void {
    this.#states.nodes.finish()
    this.#states.code.finish()
    this.#live = this.#entries
    this.#isRunning = false
    this.#onDropped()
  }
}
