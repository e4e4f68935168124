/** A request of several calls on its way: which of them have an answer, and how long it has been open. */
import type { Endpoint } from './endpoints.ts'
import type { ItemOutcome, RpcCall, RpcOutcome } from './replies.ts'
import type { RequestBody } from './sender.ts'

/** How far a request is, milliseconds since 1970. */
export interface Progress {
  readonly since: number
  /** It fails then. */
  until: number
  /** How often it was sent. */
  attempts: number
  /** The URLs that it was sent to. */
  readonly tried: Set<Endpoint>
}

/** A refusal for too many requests. */
export type Limited = Extract<ItemOutcome, { readonly kind: 'limited' }>

/** The calls of a request, or of a part of it. */
export class Work {
  readonly progress: Progress
  readonly #calls: readonly RpcCall[]
  /** In the order of the calls; shared by the parts of a request. */
  readonly #outcomes: RpcOutcome[]
  /** The places of the calls without an answer. */
  #pending: readonly number[]

  private constructor(
    calls: readonly RpcCall[],
    outcomes: RpcOutcome[],
    pending: readonly number[],
    progress: Progress,
  ) {
    this.#calls = calls
    this.#outcomes = outcomes
    this.#pending = pending
    this.progress = progress
  }

  /** Begins now, with this many milliseconds. */
  static of(calls: readonly RpcCall[], now: number, milliseconds: number): Work {
    const progress = { since: now, until: now + milliseconds, attempts: 0, tried: new Set<Endpoint>() }
    return new Work(calls, new Array(calls.length), [...calls.keys()], progress)
  }

  /** How many calls have no answer. */
  get left(): number {
    return this.#pending.length
  }

  /** The answers, once no call is left. */
  get outcomes(): readonly RpcOutcome[] {
    return this.#outcomes
  }

  /** What is left, in two parts. */
  halves(): readonly Work[] {
    const middle = this.#pending.length >> 1
    return [this.#pending.slice(0, middle), this.#pending.slice(middle)].map(
      (part) => new Work(this.#calls, this.#outcomes, part, this.progress),
    )
  }

  /** The message that asks what is left, with ids from `first` on: an object for one call, else a batch. */
  body(first: number): RequestBody {
    const requests = this.#pending.map((place, i) => ({
      jsonrpc: '2.0',
      id: first + i,
      ...this.#calls[place],
    }))
    const text = JSON.stringify(requests.length === 1 ? requests[0] : requests)
    return { text, ids: requests.map(({ id }) => id) }
  }

  /** Takes the outcomes of what was left, in its order. Returns the refusal that asks for the longest wait, if any. */
  accept(items: readonly ItemOutcome[]): Limited | undefined {
    const rest: number[] = []
    let limited: Limited | undefined
    for (const [i, place] of this.#pending.entries()) {
      const item = items[i]
      if (item?.kind === 'answer') this.#outcomes[place] = item.outcome
      else rest.push(place)
      if (item?.kind === 'limited' && (item.waitMs ?? 0) >= (limited?.waitMs ?? 0)) limited = item
    }
    this.#pending = rest
    return limited
  }
}
