/** Blocks, transactions and reorganisations under chaos. Works by the commands of the engine alone, so the chain stays valid. */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { MiningHandler } from '../engine/mining/schedule.ts'
import { type ChainUpdate, minesAtOnce } from '../engine/model.ts'
import type { Agenda } from './agenda.ts'
import type { BlockFiller, Room } from './block-filler.ts'
import type { BlockDecision, Decisions, ReorganisationDecision } from './decisions.ts'
import type { ChaosPlan } from './plan.ts'
import type { ChaosReport } from './report.ts'

/** Transactions of which it is kept that no block takes them; beyond it the oldest are mined. */
const MOST_HELD = 10_000

/** What chaos does to blocks is made of. */
export interface ChaosBlocksParts {
  readonly plan: ChaosPlan
  readonly node: CurrentEngine
  readonly decisions: Decisions
  readonly agenda: Agenda
  readonly report: ChaosReport
  /** Fills blocks. */
  readonly filler: BlockFiller
}

const heightOf = ({ block }: ExecutedBlock): number => block.header.number

/** Mines the blocks of a node that are mined without a request, and replaces some of them. */
export class ChaosBlocks implements MiningHandler {
  readonly #parts: ChaosBlocksParts
  readonly #minesBlocks: boolean
  readonly #stops: (() => void)[] = []
  /** No reorganisation replaces the block at this height: it was there before. */
  #base: number
  /** Transactions that no block takes. */
  readonly #held = new Set<Hex>()
  /** The next block of automining is on the agenda. */
  #isDue = false
  /** The next block of mining on a timer, and the intervals until then. */
  #next: { readonly decision: BlockDecision; left: number } | undefined

  constructor(parts: ChaosBlocksParts) {
    const { plan, node } = parts
    this.#parts = parts
    this.#minesBlocks = plan.blocks !== undefined || plan.transactions !== undefined
    this.#base = heightOf(node.engine.queries.head())
  }

  start(): void {
    const { events } = this.#parts.node
    this.#takeOver()
    this.#stops.push(
      events.on('chain', (update) => this.#onChain(update)),
      events.on('replaced', () => {
        this.#base = heightOf(this.#parts.node.engine.queries.head())
        this.#takeOver()
      }),
    )
  }

  /** Gives mining back to the schedule; returns whether that would have mined what waits in the pool. */
  stop(): boolean {
    for (const stop of this.#stops.splice(0)) stop()
    if (this.#minesBlocks) this.#parts.node.engine.dev.setMiningHandler(undefined)
    return this.#minesBlocks && this.#isAutomining()
  }

  admitted(): void {
    if (!this.#isDue) this.#plan(0)
  }

  async tick(): Promise<void> {
    const { decisions, report } = this.#parts
    if (this.#next === undefined) {
      const decision = decisions.block()
      this.#next = { decision, left: decision.late }
      if (decision.late > 0) report.add('late-block', decision.late, 'the next block')
    }
    const { decision, left } = this.#next
    if (left > 0) {
      this.#next.left--
      return
    }
    this.#next = undefined
    await this.#mine(decision)
  }

  /** Decides what becomes of a transaction that the node has accepted. */
  async sent(hash: Hex): Promise<void> {
    const { node, decisions, agenda, report } = this.#parts
    if (!this.#minesBlocks) return
    const { engine } = node
    const view = engine.queries.transaction(hash)
    const from = view?.transaction.from
    if (view === undefined || from === undefined) return
    const fate = decisions.transaction(engine.accounts.list().includes(from))
    if (fate === undefined) return
    report.add(fate.kind, hash, `a transaction of ${from}`)
    if (fate.kind === 'forgotten') await engine.dev.dropTransaction(hash)
    else this.#hold(hash)
    if (fate.kind !== 'repriced' && fate.kind !== 'cancelled') return
    const isCancelled = fate.kind === 'cancelled'
    agenda.add(fate.calls, () => this.#replace(view.transaction, isCancelled))
  }

  #takeOver(): void {
    if (this.#minesBlocks) this.#parts.node.engine.dev.setMiningHandler(this)
  }

  #isAutomining(): boolean {
    return minesAtOnce(this.#parts.node.engine.dev.miningMode())
  }

  #hold(hash: Hex): void {
    const [oldest] = this.#held
    if (this.#held.size >= MOST_HELD && oldest !== undefined) this.#held.delete(oldest)
    this.#held.add(hash)
  }

  /** Puts the next block of automining on the agenda, after at least some calls. */
  #plan(least: number): void {
    const { agenda, decisions, report } = this.#parts
    const decision = decisions.block()
    this.#isDue = true
    if (decision.late > 0) report.add('late-block', decision.late, 'the next block')
    agenda.add(Math.max(least, decision.late), async () => {
      this.#isDue = false
      if (this.#isAutomining()) await this.#mine(decision)
    })
  }

  async #mine(decision: BlockDecision): Promise<void> {
    const { node, filler } = this.#parts
    const { engine } = node
    const room = decision.isFull ? await filler.roomIn(engine) : undefined
    let chosen: readonly Transaction[] | undefined
    await engine.commands.mine({
      choose: (candidates) => {
        chosen ??= this.#choose(candidates, decision, room)
        return chosen
      },
    })
    const waits = engine.queries.pendingTransactions().some(({ hash }) => !this.#held.has(hash))
    if (waits && this.#isAutomining() && !this.#isDue) this.#plan(1)
  }

  #choose(
    candidates: readonly Transaction[],
    { room, isReordered }: BlockDecision,
    full: Room | undefined,
  ): readonly Transaction[] {
    const { report } = this.#parts
    const free = this.#withoutHeld(candidates)
    const ordered = isReordered ? this.#reordered(free) : free
    if (isReordered && free.length > 1) report.add('reordered-block', free.length, 'the next block')
    const taken = ordered.slice(0, room)
    if (full === undefined) {
      if (room < free.length) report.add('empty-block', 0, 'the next block')
      return taken
    }
    report.add('full-block', taken.length, 'the next block')
    const asked = taken.reduce((gas, { gasLimit }) => gas + gasLimit, 0n)
    const filling = full.filling(full.gas - asked)
    return filling === undefined ? taken : [...taken, filling]
  }

  /** Without those that no block takes, and those of their senders that come after them. */
  #withoutHeld(candidates: readonly Transaction[]): readonly Transaction[] {
    const blocked = new Set<Hex>()
    return candidates.filter(({ hash, from }) => {
      if (this.#held.has(hash)) blocked.add(from)
      return !blocked.has(from)
    })
  }

  /** In another order: the places of senders are shuffled, and each sender's transactions stay in order. */
  #reordered(transactions: readonly Transaction[]): readonly Transaction[] {
    const bySender = new Map<Hex, Transaction[]>()
    for (const transaction of transactions) {
      const { from } = transaction
      bySender.set(from, [...(bySender.get(from) ?? []), transaction])
    }
    const places = this.#parts.decisions.shuffle(transactions.map(({ from }) => from))
    return places.flatMap((from) => bySender.get(from)?.shift() ?? [])
  }

  async #replace(transaction: Transaction, isCancelled: boolean): Promise<void> {
    const { engine } = this.#parts.node
    const { hash, from, nonce, to, value, data, gasLimit, gasPrice } = transaction
    if (engine.queries.pooledAt(from, nonce)?.hash !== hash) return
    const content = isCancelled ? { to: from, value: 0n, gas: 21_000n } : { to, value, data, gas: gasLimit }
    await engine.commands.send({ ...content, from, nonce, gasPrice: gasPrice * 2n + 1n })
  }

  #onChain({ removed, added }: ChainUpdate): void {
    const { decisions, agenda, node } = this.#parts
    this.#base = Math.min(this.#base, heightOf(node.engine.queries.head()))
    for (const { block } of added) for (const { hash } of block.transactions) this.#held.delete(hash)
    if (removed.length > 0) this.#dropFillings()
    if (removed.length > 0 || added.length === 0) return
    const decision = decisions.reorganisation()
    if (decision !== undefined) agenda.add(decision.calls, () => this.#reorganise(decision))
  }

  /** What filled a block that is no longer on the chain does not wait for another one. */
  #dropFillings(): void {
    const { node, filler } = this.#parts
    // Rejects where the node is closing.
    void node.engine.dev.dropTransactionsOf(filler.address).catch(() => {})
  }

  async #reorganise({ depth: asked, uncles }: ReorganisationDecision): Promise<void> {
    const { node, decisions, report, filler } = this.#parts
    const { engine } = node
    const depth = Math.min(asked, heightOf(engine.queries.head()) - this.#base)
    if (depth < 1) return
    report.add('reorganisation', depth, 'the chain')
    const { removed } = await engine.commands.reorg({ depth, uncles })
    await engine.dev.dropTransactionsOf(filler.address)
    const transactions = removed
      .flatMap(({ block }) => block.transactions)
      .filter(({ isRemasc, from }) => !isRemasc && from !== filler.address)
    for (const { hash, from } of transactions) {
      if (!decisions.isLost()) continue
      report.add('lost-transaction', hash, `a transaction of ${from}`)
      await engine.dev.dropTransaction(hash)
    }
    if (this.#isAutomining() && !this.#isDue && engine.queries.poolSize().pending > 0) this.#plan(1)
  }
}
