/** The dispatcher of a recorded node: passes everything on, and writes what passes. */
import type { EngineHolder } from '../engine/engine-holder.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { NodeOptions, OnCall } from '../options/options.ts'
import { errorObjectIn } from '../rpc/dialects.ts'
import type { Dispatcher } from '../rpc/dispatcher.ts'
import { hasInexactId } from '../rpc/exact-ids.ts'
import type { AnyMethod } from '../rpc/method.ts'
import type { Notification } from '../rpc/notification.ts'
import type { RawJson } from '../rpc/raw-json.ts'
import type { Replies, Reply } from '../rpc/reply.ts'
import type { Session } from '../rpc/session.ts'
import type { LinePart } from './line-file.ts'
import { SecretMask } from './secrets.ts'

/** Values as JSON has them: maps as objects, big numbers in hex. */
export function jsonOf(this: unknown, key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value)
  // A Buffer has become an object here, by its toJSON.
  const held: unknown = (this as Readonly<Record<string, unknown>>)[key]
  if (held instanceof Uint8Array) return `0x${Buffer.from(held).toString('hex')}`
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value
}

/** What a recorder needs of the node, once there is one. */
export interface RecordedNode {
  readonly holder: EngineHolder
  readonly methods: readonly AnyMethod[]
  readonly options: Pick<NodeOptions, 'dialect' | 'dataDir'>
}

/** Work that was begun. */
export interface Begun {
  readonly n: number
  /** The members of its line. */
  readonly text: string
}

/** What writes the recording of a dispatcher. */
export interface DispatcherRecorder {
  /** Records the chain that is there already, before the first request; `undefined` where there is none. */
  start(): Promise<void> | undefined
  /** Begins a request, with the members of its line as JSON. */
  begin(session: Session, members: string): Begun
  /** Ends it with the reply as JSON. Returns a promise where the caller should wait for the file. */
  end(begun: Begun, reply: LinePart): Promise<void> | undefined
  /** Records what a subscriber is sent. */
  event(session: Session, notification: Notification): void
  closed(session: Session): void
}

/** Passes everything on, and writes what passes. */
export class RecordingDispatcher implements Dispatcher {
  readonly #inner: Dispatcher
  readonly #recorder: DispatcherRecorder
  readonly #mask: SecretMask
  readonly #node: RecordedNode
  /** The sessions of connections, whose notifications are recorded. */
  readonly #sessions = new WeakMap<Session, Session>()

  constructor(inner: Dispatcher, recorder: DispatcherRecorder, node: RecordedNode) {
    this.#inner = inner
    this.#recorder = recorder
    this.#mask = new SecretMask(node.methods)
    this.#node = node
  }

  get methods() {
    return this.#inner.methods
  }

  get load() {
    return this.#inner.load
  }

  get position() {
    return this.#inner.position
  }

  get chaos() {
    return this.#inner.chaos
  }

  listen(listener: OnCall) {
    return this.#inner.listen(listener)
  }

  meter() {
    return this.#inner.meter()
  }

  async dispatch(message: unknown, session: Session): Promise<Reply | Replies | undefined> {
    const begun = await this.#begin(message, session)
    const reply = await this.#inner.dispatch(message, this.#sessionOf(session))
    await this.#recorder.end(begun, JSON.stringify(reply ?? null))
    return reply
  }

  async dispatchText(text: string, session: Session): Promise<string | undefined> {
    return (await this.dispatchPieces(text, session))?.toString()
  }

  dispatchPieces(text: string, session: Session): MaybePromise<string | RawJson | undefined> {
    const { message, members } = this.#messageOf(text)
    return andThen(this.#recorder.start(), () => {
      const begun = this.#recorder.begin(session, members)
      return andThen(this.#inner.dispatchPieces(text, this.#sessionOf(session)), (reply) =>
        andThen(this.#recorder.end(begun, this.#written(message, reply)), () => reply),
      )
    })
  }

  async request(
    name: string,
    params: unknown,
    session: Session,
    limits?: Parameters<Dispatcher['request']>[3],
  ): Promise<unknown> {
    const message = { method: name, params }
    const begun = await this.#begin(message, session)
    try {
      const result = await this.#inner.request(name, params, this.#sessionOf(session), limits)
      const shown = this.#mask.hasSecretReply(message)
        ? this.#mask.reply({ result })
        : { result: result ?? null }
      await this.#recorder.end(begun, JSON.stringify(shown))
      return result
    } catch (error) {
      const { dialect = 'rsk' } = this.#node.options
      await this.#recorder.end(begun, JSON.stringify({ error: errorObjectIn(dialect, error) }))
      throw error
    }
  }

  async #begin(message: unknown, session: Session): Promise<Begun> {
    await this.#recorder.start()
    return this.#recorder.begin(session, `"request":${JSON.stringify(this.#mask.request(message), jsonOf)}`)
  }

  /** A message, and what stands for it in its line: the JSON itself, or the text where that is none or would be changed. */
  #messageOf(text: string): { readonly message: unknown; readonly members: string } {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return { message: undefined, members: `"text":${JSON.stringify(text)}` }
    }
    const masked = this.#mask.request(message)
    const isPlain = typeof message === 'object' && message !== null && !hasInexactId(message)
    if (isPlain || masked !== message) return { message, members: `"request":${JSON.stringify(masked)}` }
    return { message, members: `"text":${JSON.stringify(text)}` }
  }

  #written(message: unknown, reply: string | RawJson | undefined): LinePart {
    if (reply === undefined) return 'null'
    if (this.#mask.hasSecretReply(message)) {
      return JSON.stringify(this.#mask.reply(JSON.parse(reply.toString())))
    }
    return typeof reply === 'string' ? reply : reply.pieces()
  }

  #sessionOf(session: Session): Session {
    const { notify, onClose } = session
    if (notify === undefined) return session
    const known = this.#sessions.get(session)
    if (known !== undefined) return known
    const recorded: Session = {
      ...session,
      notify: (notification) => {
        this.#recorder.event(session, notification)
        session.notify?.(notification)
      },
    }
    this.#sessions.set(session, recorded)
    onClose?.(() => this.#recorder.closed(session))
    return recorded
  }
}
