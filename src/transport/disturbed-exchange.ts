/** An exchange under chaos: its reply is late, lost, cut off or replaced by a status. Loaded with the first such one. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Disturbance } from '../chaos/model.ts'
import { errorOf } from './disturbed-error.ts'
import { CHAOS_HEADER, decline, type ReplyFields, type RpcExchange } from './exchange.ts'
import type { Policy } from './policy.ts'
import { type Refusal, tooLarge } from './refusal.ts'
import type { LongReply } from './text-dispatcher.ts'

/** An exchange whose reply is disturbed. */
class DisturbedExchange implements RpcExchange {
  readonly #inner: RpcExchange
  readonly #disturbance: Disturbance

  constructor(inner: RpcExchange, disturbance: Disturbance) {
    this.#inner = inner
    this.#disturbance = disturbance
  }

  get requestId(): string {
    return this.#inner.requestId
  }

  get headers(): IncomingHttpHeaders {
    return this.#inner.headers
  }

  get remote(): string {
    return this.#inner.remote
  }

  get isGone(): boolean {
    return this.#inner.isGone
  }

  send(status: number, fields: ReplyFields, body: string | LongReply, length: number): void {
    const { latencyMs } = this.#disturbance
    if (latencyMs === 0) this.#sendNow(status, fields, body, length)
    else setTimeout(() => this.#sendNow(status, fields, body, length), latencyMs)
  }

  hold(timeoutMs: number, release: () => void): void {
    this.#inner.hold(timeoutMs + this.#disturbance.latencyMs, release)
  }

  cut(status: number, fields: ReplyFields, part: string, length: number): void {
    this.#inner.cut(status, fields, part, length)
  }

  destroy(): void {
    this.#inner.destroy()
  }

  #sendNow(status: number, given: ReplyFields, body: string | LongReply, length: number): void {
    const { fault, notes } = this.#disturbance
    if (this.isGone) return
    if (fault?.kind === 'drop') {
      this.destroy()
      return
    }
    const ofCalls = given[CHAOS_HEADER]
    const what = ofCalls === undefined ? notes : [...notes, String(ofCalls)]
    const fields = { ...given, [CHAOS_HEADER]: what.join('; ') }
    if (fault?.kind === 'truncate') this.cut(status, fields, partOf(body, fault.share), length)
    else this.#inner.send(status, fields, body, length)
  }
}

/** The beginning of a reply; of a long one of its first piece. */
function partOf(body: string | LongReply, share: number): string {
  const [first] = typeof body === 'string' ? [body] : body.pieces()
  const text = typeof first === 'string' ? first : Buffer.from(first ?? []).toString('latin1')
  return text.slice(0, Math.floor(text.length * share))
}

/** Leaves a message without a reply, with its connection open, until its time is over or the server closes. */
function stall(exchange: RpcExchange, ms: number, policy: Policy): void {
  const stop = policy.onClosing(end)
  const timer = setTimeout(end, ms)
  function end(): void {
    stop()
    clearTimeout(timer)
    exchange.destroy()
  }
}

/** The reply to a message that never reaches the node. */
function refusalFor({ fault, errorText }: Disturbance): Refusal | undefined {
  if (fault?.kind === 'too-large') return tooLarge(fault.limit)
  const error = errorOf(fault)
  if (error === undefined) return undefined
  const body = errorText(error.code, error.message)
  if (fault?.kind !== 'status') return { status: 200, body }
  const { status, retryAfter } = fault
  return { status, body, ...(retryAfter !== undefined && { retryAfter }) }
}

/** Disturbs an exchange, and has its message answered unless the message never reaches the node. */
export function disturb(
  exchange: RpcExchange,
  disturbance: Disturbance,
  policy: Policy,
  answer: (disturbed: RpcExchange) => void,
): void {
  const { fault } = disturbance
  const disturbed = new DisturbedExchange(exchange, disturbance)
  const refusal = refusalFor(disturbance)
  if (refusal !== undefined) return void decline(disturbed, refusal)
  if (fault?.kind === 'stall') return void stall(exchange, fault.ms, policy)
  if (fault?.kind !== 'drop' || fault.when === 'after') return void answer(disturbed)
  setTimeout(() => exchange.destroy(), disturbance.latencyMs)
}
