/** Repeats a recording on a target, in its order and at its times, and compares each reply and event. */
import { isObject } from '../encoding/json-object.ts'
import { NodeError } from '../errors.ts'
import type { EventLine, RequestLine } from '../recording/lines.ts'
import {
  type ComparisonRules,
  differencesOf,
  type MemberDifference,
  OF_HASHES,
  OF_RELEASE,
  replyDifferences,
  TIMES,
} from './differences.ts'
import type { NumberedLine } from './recorded-file.ts'
import { NAMING_METHODS, Renaming } from './renaming.ts'
import type { Target } from './target.ts'

/** A member that differs, and where. */
export interface Difference extends MemberDifference {
  /** The line of the recording that has the recorded value. */
  readonly line: number
  /** The line of the request; that of the event where an event differs. */
  readonly requestLine: number
  /** The method of the request, or what it was otherwise: `event`, `tick`, `batch`, `text`. */
  readonly what: string
}

/** How a recording is repeated. */
export interface RunOptions {
  /** Hashes and addresses of contracts may differ throughout. */
  readonly renamesHashes: boolean
  /** The target may be of another version, which its blocks name. */
  readonly isOtherRelease?: boolean | undefined
  /** Ends after this line. */
  readonly to?: number | undefined
  /** Ends at the first reply that differs. */
  readonly stopsAtFirst?: boolean | undefined
  /** Was the recording cut off, when its lines have been read? Events that it has not are no difference then. */
  isCut?(): boolean
  /** Receives each answer of the target, with the line of its request. */
  onReply?(requestLine: number, reply: unknown): void
}

/** What a replay found. */
export interface Outcome {
  readonly differences: readonly Difference[]
  readonly replies: number
  readonly events: number
  /** Lines of requests that the recording has no reply to. */
  readonly unanswered: readonly number[]
}

/** Work of the target that the recording has not ended yet. */
interface Begun {
  readonly line: number
  readonly request: unknown
  readonly reply: Promise<unknown>
}

/** Repeats lines. Throws `NodeError` where the recording contradicts itself. */
export async function replayLines(
  lines: AsyncIterable<NumberedLine> | Iterable<NumberedLine>,
  target: Target,
  options: RunOptions,
): Promise<Outcome> {
  const run = new Run(target, options)
  for await (const line of lines) {
    if (options.to !== undefined && line.number > options.to) break
    await run.take(line)
    if (options.stopsAtFirst && run.differences.length > 0) break
  }
  return run.end()
}

class Run {
  readonly differences: Difference[] = []
  readonly #target: Target
  readonly #options: RunOptions
  readonly #rules: ComparisonRules
  readonly #begun = new Map<number, Begun>()
  readonly #events: EventQueues
  #replies = 0
  #eventCount = 0
  #lastLine = 1

  constructor(target: Target, options: RunOptions) {
    this.#target = target
    this.#options = options
    this.#events = new EventQueues(target.eventDelay)
    const renaming = new Renaming(options)
    const free = [
      ...(target.hasClock ? [] : TIMES),
      ...(options.renamesHashes ? OF_HASHES : []),
      ...(options.isOtherRelease ? OF_RELEASE : []),
    ]
    this.#rules = { renaming, free: new Set(free) }
    target.onEvent((to, event) => this.#events.push(to, event))
  }

  async take({ number, value }: NumberedLine): Promise<void> {
    this.#lastLine = number
    if ('request' in value || 'text' in value) await this.#begin(number, value)
    else if ('tick' in value) {
      this.#target.setTime(value.time)
      this.#begun.set(value.n, { line: number, request: 'tick', reply: this.#target.tick(value.timer) })
    } else if ('event' in value) return this.#compareEvent(number, value)
    else if ('closed' in value) return this.#target.disconnect(value.closed)
    else if ('state' in value) return this.#target.loadState(value.state)
    if ('reply' in value && 'n' in value) await this.#compareReply(number, value.n, value.reply)
  }

  async end(): Promise<Outcome> {
    // A node that is to stand at a line has done what was begun by then.
    if (this.#options.to !== undefined) {
      await Promise.allSettled([...this.#begun.values()].map(({ reply }) => reply))
    }
    const unanswered = [...this.#begun.values()].map(({ line }) => line)
    const isWhole = this.#options.to === undefined && this.#options.isCut?.() !== true
    // What came of requests without a reply may have been cut off as well.
    if (isWhole && unanswered.length === 0 && this.differences.length === 0) this.#reportRest()
    // What no reply was recorded of may never end.
    for (const { reply } of this.#begun.values()) reply.catch(() => {})
    return { differences: this.differences, replies: this.#replies, events: this.#eventCount, unanswered }
  }

  async #begin(number: number, line: RequestLine): Promise<void> {
    if (this.#begun.has(line.n)) throw malformed(number, 'n', `request ${line.n} has begun already`)
    // The head was there while other work was under way.
    if (line.head !== undefined && this.#begun.size > 0) await this.#reach(line.head)
    this.#target.setTime(line.time)
    const request = this.#rules.renaming.apply(line.request)
    const reply = this.#target.answer(line, request)
    reply.catch(() => {})
    this.#begun.set(line.n, { line: number, request: line.request ?? 'text', reply })
  }

  /** Waits for a height, or until nothing is under way that could lead to it. */
  async #reach(height: number): Promise<void> {
    const rest = Promise.allSettled([...this.#begun.values()].map(({ reply }) => reply))
    await Promise.race([this.#target.reach(height), rest])
  }

  async #compareReply(number: number, n: number, recorded: unknown): Promise<void> {
    const begun = this.#begun.get(n)
    if (begun === undefined) throw malformed(number, 'n', `no request ${n} waits for a reply`)
    const { line, request } = begun
    const replayed = await begun.reply
    this.#begun.delete(n)
    this.#replies++
    this.#options.onReply?.(line, replayed)
    if (request === 'tick' && replayed === undefined) return
    this.#noteNames(request, recorded, replayed)
    this.#note(
      { line: number, requestLine: line, what: whatIs(request) },
      replyDifferences(request, recorded, replayed, this.#rules),
    )
  }

  /** Notes names that the target chose: they are no difference, and later requests hold them. */
  #noteNames(request: unknown, recorded: unknown, replayed: unknown): void {
    if (Array.isArray(request) && Array.isArray(recorded) && Array.isArray(replayed)) {
      for (const [i, entry] of request.entries()) this.#noteNames(entry, recorded[i], replayed[i])
      return
    }
    if (!isObject(request) || !isObject(recorded) || !isObject(replayed)) return
    if (!NAMING_METHODS.has(String(request.method))) return
    if (typeof recorded.result === 'string' && typeof replayed.result === 'string') {
      this.#rules.renaming.add(recorded.result, replayed.result)
    }
  }

  async #compareEvent(number: number, { to, event }: EventLine): Promise<void> {
    this.#eventCount++
    const replayed = await this.#events.next(
      to,
      [...this.#begun.values()].map(({ reply }) => reply),
    )
    const place = { line: number, requestLine: number, what: 'event' }
    this.#note(place, differencesOf(event, replayed, this.#rules))
  }

  /** Events that the recording has not. */
  #reportRest(): void {
    for (const event of this.#events.rest()) {
      const place = { line: this.#lastLine, requestLine: this.#lastLine, what: 'event' }
      this.differences.push({ ...place, path: '', recorded: undefined, replayed: event })
    }
  }

  #note(place: Pick<Difference, 'line' | 'requestLine' | 'what'>, found: Iterable<MemberDifference>): void {
    for (const difference of found) this.differences.push({ ...place, ...difference })
  }
}

/** The events of the target that were not compared yet, by caller. */
class EventQueues {
  readonly #queues = new Map<string, unknown[]>()
  readonly #delay: number
  #onPush: (() => void) | undefined

  /** @param delay milliseconds after the end of all calls in which an event may still arrive */
  constructor(delay: number) {
    this.#delay = delay
  }

  push(to: string, event: unknown): void {
    const queue = this.#queues.get(to)
    if (queue === undefined) this.#queues.set(to, [event])
    else queue.push(event)
    this.#onPush?.()
  }

  /** The next event for a caller; `undefined` where none comes after the work that is under way. */
  async next(to: string, work: readonly Promise<unknown>[]): Promise<unknown> {
    const rest = Promise.allSettled(work).then(
      () => new Promise((resolve) => setTimeout(resolve, this.#delay)),
    )
    let isOver = false
    void rest.then(() => {
      isOver = true
      this.#onPush?.()
    })
    while ((this.#queues.get(to)?.length ?? 0) === 0 && !isOver) {
      await new Promise<void>((resolve) => {
        this.#onPush = resolve
      })
    }
    return this.#queues.get(to)?.shift()
  }

  *rest(): Generator<unknown> {
    for (const queue of this.#queues.values()) yield* queue
  }
}

function whatIs(request: unknown): string {
  if (Array.isArray(request)) return 'batch'
  return isObject(request) && typeof request.method === 'string' ? request.method : String(request)
}

function malformed(line: number, path: string, why: string): NodeError {
  return new NodeError('invalid-params', `Malformed recording: line ${line}, ${path}: ${why}.`)
}
