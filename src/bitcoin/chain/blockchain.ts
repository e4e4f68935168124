/** A chain that blocks and transactions are given to. */
import { toHex } from '../../encoding/hex.ts'
import { type Transaction, wtxid } from '../transaction.ts'
import { type AcceptanceOptions, accept } from './acceptance.ts'
import { type Activation, acceptBlock, activateBest, invalidated, reconsidered } from './activation.ts'
import { assemble, type Template } from './assembly.ts'
import { type Block, blockHash } from './block.ts'
import { updatedMempool } from './mempool-update.ts'
import { type ChainState, genesisState, knownBlock, type MempoolEntry, type StoredBlock } from './state.ts'

/** What changed. */
export interface ChainEvent {
  readonly before: ChainState
  readonly after: ChainState
  /** Blocks taken off the best chain, the last first. */
  readonly removed: readonly StoredBlock[]
  /** Blocks added to it, in the order of their heights. */
  readonly added: readonly StoredBlock[]
}

/** What a chain calls at every change, before the call that makes it returns. */
export interface ChainHooks {
  /** Keeps the change; the chain stays as it was when this throws. */
  write(before: ChainState, after: ChainState): void
  /** The change is made. */
  changed(event: ChainEvent): void
}

/** Most transactions whose scripts are remembered to be good. */
const MAX_KNOWN = 50_000

/** The chain. It changes at once or not at all. */
export class Blockchain {
  readonly #now: () => number
  readonly #hooks: ChainHooks
  readonly #known = new Set<string>()
  #state: ChainState

  /** `now`: seconds since 1970. */
  constructor(now: () => number, hooks: ChainHooks, state: ChainState = genesisState()) {
    this.#now = now
    this.#hooks = hooks
    this.#state = state
  }

  get state(): ChainState {
    return this.#state
  }

  /** Goes to another state of this chain, back or forth. */
  restore(state: ChainState): void {
    const removed: StoredBlock[] = []
    const added: StoredBlock[] = []
    for (const { before, after } of this.#state.active.differences(state.active)) {
      if (before !== undefined) removed.unshift(knownBlock(this.#state, before))
      if (after !== undefined) added.push(knownBlock(state, after))
    }
    this.#commit(state, removed, added)
  }

  /**
   * Takes a block in. Throws a `RuleViolation` when it is invalid, known, or without parent; a block of a branch with
   * less work is kept without becoming the best (`isBest` is false).
   */
  submit(block: Block): { readonly hash: string; readonly isBest: boolean } {
    const hash = blockHash(block)
    const { violation } = this.#activate(acceptBlock(this.#state, block, this.#now()))
    if (violation !== undefined && knownBlock(this.#state, hash).isInvalid) throw violation
    return { hash, isBest: this.#state.best === hash }
  }

  /** Checks a block on the best one without taking it in. Throws a `RuleViolation`. */
  check(block: Block): void {
    const accepted = acceptBlock(this.#state, block, this.#now())
    const { violation } = activateBest(accepted, this.#isKnown)
    if (violation !== undefined) throw violation
  }

  /** Declares a block invalid, and all that follow it. Throws a RangeError for the first block. */
  invalidate(block: StoredBlock): void {
    if (block.height === 0) throw new RangeError('the first block cannot be invalid')
    this.#activate(invalidated(this.#state, block))
  }

  /** Takes back `invalidate`. */
  reconsider(block: StoredBlock): void {
    this.#activate(reconsidered(this.#state, block))
  }

  /** Puts a transaction into the mempool. Throws a `RuleViolation`. */
  accept(transaction: Transaction): MempoolEntry {
    const { entry, state } = accept(this.#state, transaction, this.#options)
    this.#remember(transaction)
    this.#commit(state, [], [])
    return entry
  }

  /** Checks a transaction as `accept` does, without taking it in. */
  checkTransaction(transaction: Transaction): MempoolEntry {
    return accept(this.#state, transaction, this.#options).entry
  }

  get #options(): AcceptanceOptions {
    return { now: this.#now(), isKnown: this.#isKnown, hasPolicy: true }
  }

  /** A block on the best one, not yet submitted. */
  assemble(template: Omit<Template, 'now' | 'extraNonce'>): Block {
    // What has arrived so far differs between blocks of one height that would else be the same.
    return assemble(this.#state, { ...template, now: this.#now(), extraNonce: this.#state.arrivals })
  }

  readonly #isKnown = (transaction: Transaction): boolean => this.#known.has(toHex(wtxid(transaction)))

  #remember(transaction: Transaction): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.add(toHex(wtxid(transaction)))
  }

  #activate(state: ChainState): Activation {
    const activation = activateBest(state, this.#isKnown)
    const { removed, added } = activation
    const next = updatedMempool(activation.state, removed, added, this.#now(), this.#isKnown)
    this.#commit(next, removed, added)
    return activation
  }

  #commit(after: ChainState, removed: readonly StoredBlock[], added: readonly StoredBlock[]): void {
    const before = this.#state
    this.#hooks.write(before, after)
    this.#state = after
    this.#hooks.changed({ before, after, removed, added })
  }
}
