/** Records what a node with `record` is asked and answers, and the clock that its answers depend on. */
import { randomBytes } from 'node:crypto'
import type { Logger } from '../logger.ts'
import { NODE_SETTINGS, type NodeOptions } from '../options/options.ts'
import { errorObjectIn } from '../rpc/dialects.ts'
import type { Dispatcher } from '../rpc/dispatcher.ts'
import { type Notification, notificationText } from '../rpc/notification.ts'
import type { Session } from '../rpc/session.ts'
import { dumpText } from '../rpc/wire/state-file.ts'
import { LineFile, type LinePart } from './line-file.ts'
import { FORMAT, type Header } from './lines.ts'
import {
  type Begun,
  type DispatcherRecorder,
  jsonOf,
  type RecordedNode,
  RecordingDispatcher,
} from './recording-dispatcher.ts'

/** Options that decide no answer, or only on the machine that recorded. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'record',
  'memory',
  'dataDir',
  'fsync',
  'cluster',
  'clusterName',
  'role',
  'clusterCa',
  'clusterReplicas',
  'clusterLogBytes',
  'maxLag',
  'telemetry',
  'forkCacheDir',
])

/** How long a request may wait for its reply before it is written without, so that one that is never answered is in the file. */
const HELD_MS = 200

/** A recording that is being made. */
export class Recorder implements DispatcherRecorder {
  readonly #file: LineFile
  readonly #logger: Logger
  readonly #wallClock: () => number
  #count = 0
  /** Timers that the node has started. */
  #timers = 0
  #open = 0
  /** Unix seconds at which the last work began: the clock stands there until all has ended. */
  #time: number
  readonly #startTime: number
  /** The work that nothing was written after, which waits for its reply. */
  #held: Begun | undefined
  #timer: NodeJS.Timeout | undefined
  #isBroken = false
  #hasBegun = false
  #node: RecordedNode | undefined
  /** Lines of intervals that ended before the header was written. */
  #early: (readonly LinePart[])[] | undefined = []
  /** The head of a node in memory before anyone has used it. */
  #first: { readonly hash: string; readonly postState: string } | undefined

  private constructor(file: LineFile, wallClock: () => number, logger: Logger) {
    this.#file = file
    this.#wallClock = wallClock
    this.#logger = logger
    this.#startTime = wallClock()
    this.#time = this.#startTime
  }

  /**
   * Creates the file; `options` are those of the node, with a seed and a clock that a replay can repeat. Throws
   * `invalid-options` where the file cannot be written.
   */
  static async open(
    given: NodeOptions & { readonly record: string },
    logger: Logger,
  ): Promise<{ readonly recorder: Recorder; readonly options: NodeOptions }> {
    const wallClock = given.now ?? (() => Math.floor(Date.now() / 1000))
    const recorder = new Recorder(await LineFile.create(given.record), wallClock, logger)
    const seed = given.seed ?? randomBytes(16).toString('hex')
    const hasFrozenClock = given.frozenClock !== undefined && given.frozenClock !== false
    return {
      recorder,
      options: {
        ...given,
        seed,
        ...(!hasFrozenClock && { now: () => recorder.now() }),
        intervalTimer: recorder.#timerOf(given.intervalTimer),
      },
    }
  }

  /** Unix seconds. While the node starts, or something is being answered, the time at which that, or the last work, began. */
  now(): number {
    return this.#open > 0 || this.#early !== undefined ? this.#time : this.#wallClock()
  }

  /** The dispatcher of the node, whose calls are recorded from now on. `given` are the options that `open` has returned. */
  attach(
    dispatcher: Dispatcher,
    node: RecordedNode,
    { given, release }: { readonly given: NodeOptions; readonly release: string },
  ): Dispatcher {
    this.#node = node
    const { fork, queries } = node.holder.engine
    this.#first = queries.head()
    // An upstream grows: a replay has to continue from the same block.
    const isUnpinned = fork !== undefined && given.forkTransactionHash === undefined
    this.#writeHeader({ ...given, ...(isUnpinned && { forkBlock: fork.remote.point.number }) }, release)
    return new RecordingDispatcher(dispatcher, this, node)
  }

  /** Begins a request, with the members of its line as JSON. */
  begin(session: Session, members: string): Begun {
    const owner = session.owner === '' ? '' : `,"owner":${JSON.stringify(session.owner)}`
    const calm = session.isCalm === true ? ',"calm":true' : ''
    const from = `,"from":${JSON.stringify(session.label)}${owner}${calm}`
    return this.#begin(`${from}${this.#headMember()},${members}`)
  }

  /** Ends it with the reply as JSON. Returns a promise where the caller should wait for the file. */
  end(begun: Begun, reply: LinePart): Promise<void> | undefined {
    this.#open--
    if (this.#held === begun) {
      this.#held = undefined
      return this.#write(`{${begun.text},"reply":`, reply, '}')
    }
    return this.#write(`{"n":${begun.n},"reply":`, reply, '}')
  }

  /** Records what a program does with its node by another way than a method; `name` is a function of `Node`. */
  async run<T>(name: string, params: readonly unknown[], work: () => Promise<T>): Promise<T> {
    await this.start()
    const request = JSON.stringify({ method: name, params }, jsonOf)
    const begun = this.#begin(`,"from":"in process"${this.#headMember()},"request":${request}`)
    try {
      const result = await work()
      await this.end(begun, JSON.stringify({ result: result ?? null }))
      return result
    } catch (error) {
      await this.end(begun, JSON.stringify({ error: errorObjectIn('rsk', error) }))
      throw error
    }
  }

  /** Records what a subscriber is sent. */
  event({ label }: Session, notification: Notification): void {
    this.#writeBetween(`{"to":${JSON.stringify(label)},"event":${notificationText(notification)}}`)
  }

  closed({ label }: Session): void {
    this.#writeBetween(`{"closed":${JSON.stringify(label)}}`)
  }

  /** Records the chain that is there already, before the first request; `undefined` where it is the one of a new node. */
  start(): Promise<void> | undefined {
    if (this.#hasBegun || this.#node === undefined) return undefined
    this.#hasBegun = true
    const { engine } = this.#node.holder
    const { block, hash, postState } = engine.queries.head()
    const { dataDir } = this.#node.options
    const isNew =
      dataDir === undefined
        ? hash === this.#first?.hash && postState === this.#first.postState
        : block.header.number === 0 && postState === block.header.stateRoot
    if (isNew) return undefined
    return this.#write('{"state":', jsonText(dumpText(engine, true)), '}')
  }

  /** Ends the file. Throws `storage` where it could not be written. */
  async close(): Promise<void> {
    this.#release()
    await this.#file.close().catch((error) => this.#fail(error))
  }

  #writeHeader(given: NodeOptions, release: string): void {
    const entries = Object.entries(given).filter(([key]) => !LEFT_OUT.has(key))
    const settings: Readonly<Record<string, { readonly secret?: true }>> = NODE_SETTINGS
    const isSecret = ([key, value]: readonly [string, unknown]) =>
      value !== undefined && settings[key]?.secret === true
    const options = Object.fromEntries(
      entries.filter((entry) => !isSecret(entry) && typeof entry[1] !== 'function' && entry[0] !== 'logger'),
    )
    const masked = entries.filter(isSecret).map(([key]) => key)
    const header: Header = { recording: FORMAT, release, time: this.#startTime, options, masked }
    const early = this.#early ?? []
    this.#early = undefined
    for (const parts of [[JSON.stringify(header, jsonOf)], ...early]) void this.#write(...parts)
  }

  /** The height of the head where other work is under way: a replay waits for it. */
  #headMember(): string {
    if (this.#open === 0 || this.#node === undefined) return ''
    return `,"head":${this.#node.holder.engine.queries.head().block.header.number}`
  }

  #begin(members: string): Begun {
    this.#release()
    this.#time = this.#wallClock()
    this.#open++
    const n = ++this.#count
    const begun: Begun = { n, text: `"n":${n},"time":${this.#time}${members}` }
    this.#held = begun
    // One timer serves all requests: most are answered long before it ends.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#release()
    }, HELD_MS).unref()
    return begun
  }

  /** Writes the work that waits for its reply without it, before anything else is written. */
  #release(): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    void this.#write(`{${held.text}}`)
  }

  #writeBetween(line: string): void {
    this.#release()
    void this.#write(line)
  }

  /** A file that cannot be written ends the recording, not the node. */
  #write(...parts: readonly LinePart[]): Promise<void> | undefined {
    if (this.#isBroken) return undefined
    if (this.#early !== undefined) {
      this.#early.push(parts)
      return undefined
    }
    try {
      return this.#file.write(...parts)?.catch((error) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
      return undefined
    }
  }

  #fail(error: unknown): void {
    if (!this.#isBroken) this.#logger.error('the recording ends: its file cannot be written', { error })
    this.#isBroken = true
  }

  /** The timers of interval mining and of chaos, the ends of which are recorded as work of the node. */
  #timerOf(given: NodeOptions['intervalTimer']): NonNullable<NodeOptions['intervalTimer']> {
    return (milliseconds, onEnd) => {
      const number = ++this.#timers
      const run = async () => {
        await this.start()
        const begun = this.#begin(`,"tick":true,"timer":${number}`)
        await onEnd()
        const head = this.#node?.holder.engine.queries.head()
        const reply = head && { number: `0x${head.block.header.number.toString(16)}`, hash: head.hash }
        await this.end(begun, JSON.stringify(reply ?? null))
      }
      if (given !== undefined) return given(milliseconds, run)
      const timer = setTimeout(run, milliseconds).unref()
      return () => clearTimeout(timer)
    }
  }
}

/** Text as a JSON string, piece by piece. */
async function* jsonText(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield '"'
  for await (const piece of pieces) yield JSON.stringify(piece).slice(1, -1)
  yield '"'
}
