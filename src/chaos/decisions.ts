/** The one place that decides what chaos does: plan, seed and the facts of a request in, a decision out. No effects. */
import { Draws, type Range } from './draws.ts'
import type { ChaosPlan } from './plan.ts'

/** What is known of a message before it is answered. */
export interface MessageFacts {
  /** Of its calls, in order. */
  readonly methods: readonly string[]
  readonly bytes: number
  readonly isBatch: boolean
}

/** What happens to a message. */
export type MessageFault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: number | undefined }
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'batch-limit'; readonly limit: number }
  | { readonly kind: 'drop'; readonly when: 'before' | 'after' }
  | { readonly kind: 'stall'; readonly ms: number }
  /** `share` of the reply is sent, above 0 and below 1. */
  | { readonly kind: 'truncate'; readonly share: number }

/** What happens to a message and its reply. */
export interface MessageDecision {
  readonly latencyMs: number
  readonly fault: MessageFault | undefined
}

/** What happens to one call. */
export interface CallDecision {
  /** Blocks that the answering node is behind. */
  readonly blocksBehind: number
  /** Factor of prices. */
  readonly priceFactor: number
}

/** What becomes of a transaction that was sent; `undefined` for what is usual. `calls` is when it is replaced. */
export type TransactionFate =
  | { readonly kind: 'never-mined' | 'forgotten' }
  | { readonly kind: 'repriced' | 'cancelled'; readonly calls: number }
  | undefined

/** What the next block is like. */
export interface BlockDecision {
  /** Calls, or intervals of mining, that it is late. */
  readonly late: number
  /** Transactions of the pool that it may take. */
  readonly room: number
  /** The gas that these leave is used up. */
  readonly isFull: boolean
  readonly isReordered: boolean
}

/** A reorganisation that follows a block. */
export interface ReorganisationDecision {
  readonly depth: number
  readonly uncles: boolean
  /** Calls until then. */
  readonly calls: number
}

type Rule = { readonly methods?: readonly string[] | undefined }

function fits({ methods }: Rule, name: string): boolean {
  if (methods === undefined) return true
  return methods.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name))
}

const fitsAny = (rule: Rule, names: readonly string[]): boolean => names.some((name) => fits(rule, name))

/** The decisions of a plan and a seed, each drawn from a stream of its own. */
export class Decisions {
  readonly #plan: ChaosPlan
  readonly #draws: Draws

  constructor(plan: ChaosPlan, seed: string) {
    this.#plan = plan
    this.#draws = new Draws(seed)
  }

  message(facts: MessageFacts): MessageDecision {
    const fault = this.#limit(facts) ?? this.#status(facts) ?? this.#connection(facts)
    return { fault, latencyMs: Math.max(0, ...facts.methods.map((name) => this.#latency(name))) }
  }

  /** `reads` and `prices` are whether the call reads the chain, or answers a price. */
  call({ reads, prices }: { readonly reads: boolean; readonly prices: boolean }): CallDecision {
    const { stale, gasPrice } = this.#plan
    const draws = this.#draws
    const behind = (range: Range) => () => draws.within('stale blocks', range)
    const factor = (range: Range) => () => draws.within('price factor', range)
    return {
      blocksBehind: (reads && stale && draws.windowed('stale', stale, behind(stale.blocks))) || 0,
      priceFactor: (prices && gasPrice && draws.windowed('price', gasPrice, factor(gasPrice.factor))) || 1,
    }
  }

  /** Polls of a receipt that are answered null before it is shown. */
  hiddenPolls(): number {
    const { receipts } = this.#plan
    if (receipts === undefined || !this.#draws.happens('receipts', receipts.probability)) return 0
    return this.#draws.within('receipt polls', receipts.polls)
  }

  /** @param mayReplace whether the node has the sender's key */
  transaction(mayReplace: boolean): TransactionFate {
    const { neverMined, forgotten, replaced } = this.#plan.transactions ?? {}
    if (this.#draws.happens('never mined', neverMined?.probability)) return { kind: 'never-mined' }
    if (this.#draws.happens('forgotten', forgotten?.probability)) return { kind: 'forgotten' }
    const isReplaced = this.#draws.happens('replaced', replaced?.probability)
    if (!isReplaced || !mayReplace || replaced === undefined) return undefined
    return { kind: replaced.by, calls: this.#draws.within('replaced calls', replaced.calls) }
  }

  block(): BlockDecision {
    const { late, empty, full } = this.#plan.blocks ?? {}
    const draws = this.#draws
    const isLate = draws.happens('late', late?.probability)
    const isEmpty = draws.happens('empty', empty?.probability)
    const isFull = draws.happens('full', full?.probability) && !isEmpty
    const room = isFull && full ? draws.within('room', full.transactions) : Number.POSITIVE_INFINITY
    return {
      late: isLate && late ? draws.within('late calls', late.calls) : 0,
      room: isEmpty ? 0 : room,
      isFull,
      isReordered: draws.happens('reordered', this.#plan.transactions?.reordered?.probability),
    }
  }

  /** The items in another order (Fisher and Yates, 1938). */
  shuffle<T>(items: readonly T[]): T[] {
    const list = [...items]
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.#draws.within('order', [0, i])
      const moved = list[i] as T
      list[i] = list[j] as T
      list[j] = moved
    }
    return list
  }

  reorganisation(): ReorganisationDecision | undefined {
    const { reorganisations } = this.#plan
    if (!reorganisations || !this.#draws.happens('reorganisations', reorganisations.probability)) {
      return undefined
    }
    const { depth, uncles, calls } = reorganisations
    return {
      depth: this.#draws.within('depth', depth),
      uncles,
      calls: this.#draws.within('reorganisation calls', calls),
    }
  }

  /** Is a transaction of a replaced block lost? */
  isLost(): boolean {
    return this.#draws.happens('lost', this.#plan.reorganisations?.lost)
  }

  /**
   * How often an event is sent to a subscription, or returned by a filter: 0, 1 or 2 times. A gap takes the next events of
   * all subscriptions, or of all filters.
   */
  copiesOfNext(receiver: 'subscription' | 'filter'): number {
    const { gap, duplicate } = this.#plan.subscriptions ?? {}
    const prefix = receiver === 'filter' ? 'filter ' : ''
    if (this.#draws.windowed(`${prefix}gap`, gap, () => true)) return 0
    return this.#draws.happens(`${prefix}duplicate`, duplicate?.probability) ? 2 : 1
  }

  #limit({ bytes, isBatch, methods }: MessageFacts): MessageFault | undefined {
    const { bodyBytes, batch } = this.#plan.limits ?? {}
    if (bodyBytes !== undefined && bytes > bodyBytes) return { kind: 'too-large', limit: bodyBytes }
    if (batch !== undefined && isBatch && methods.length > batch) return { kind: 'batch-limit', limit: batch }
    return undefined
  }

  #status({ methods }: MessageFacts): MessageFault | undefined {
    for (const [index, rule] of (this.#plan.statuses ?? []).entries()) {
      if (!fitsAny(rule, methods)) continue
      const fault = this.#draws.windowed(`status ${index}`, rule, () => rule)
      if (fault !== undefined) return { kind: 'status', status: rule.status, retryAfter: rule.retryAfter }
    }
    return undefined
  }

  #connection({ methods }: MessageFacts): MessageFault | undefined {
    const { drop, stall, truncate } = this.#plan.connections ?? {}
    const draws = this.#draws
    const happens = (name: string, rule: (Rule & { readonly probability: number }) | undefined) =>
      rule !== undefined && fitsAny(rule, methods) && draws.happens(name, rule.probability)
    if (happens('drop', drop))
      return { kind: 'drop', when: draws.next('drop when') < 0.5 ? 'before' : 'after' }
    if (stall && happens('stall', stall)) return { kind: 'stall', ms: stall.ms }
    if (happens('truncate', truncate)) return { kind: 'truncate', share: draws.next('truncate share') }
    return undefined
  }

  /** Milliseconds that the reply to a call is held. */
  #latency(name: string): number {
    const rule = this.#plan.latency?.find((one) => fits(one, name))
    if (rule === undefined) return 0
    const stream = `latency ${name}`
    if (rule.distribution === 'uniform') return this.#draws.within(stream, rule.ms)
    const normal = this.#draws.normal(stream)
    if (rule.distribution === 'normal') return Math.max(0, Math.round(rule.mean + normal * rule.deviation))
    return Math.min(rule.most, Math.round(rule.median * Math.exp(normal * rule.sigma)))
  }
}
