/** What a recording is repeated on: a node of this version or of another, in this process. */
import { z } from 'zod'
import { type Hex, toHex } from '../encoding/hex.ts'
import { messageOf, NodeError } from '../errors.ts'
import { createNode, type Node } from '../node/node.ts'
import { NODE_SETTINGS, type NodeOptions } from '../options/options.ts'
import { HexText, readAlloc } from '../recording/alloc.ts'
import type { Header, RequestLine } from '../recording/lines.ts'
import { RpcError } from '../rpc/error-codes.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { StandIns } from './stand-ins.ts'

/** A node that answers the requests of a recording. */
export interface Target {
  /** Has it the clock of the recording? Otherwise timestamps are its own. */
  readonly hasClock: boolean
  /** Milliseconds after the end of all calls in which an event may still arrive. */
  readonly eventDelay: number
  /** The reply to a message, as JSON has it; `null` where there is none. */
  answer(line: RequestLine, request: unknown): Promise<unknown>
  /** Ends a timer of the node, by its number: the head after it; `undefined` where the node has its own timers. */
  tick(timer: number): Promise<unknown>
  /** The clock stands at this Unix time, in seconds, from now on. */
  setTime(time: number): void
  /** Resolves when the head is at a height. */
  reach(height: number): Promise<void>
  /** Called with each event for a caller, from now on. */
  onEvent(listener: (to: string, event: unknown) => void): void
  /** Ends the connection of a caller. */
  disconnect(from: string): void
  /** Loads a chain, as the text of a state file. */
  loadState(text: string): Promise<void>
  close(): Promise<void>
}

/** What a replay changes of the recorded node. */
export interface Changes {
  /** Options in place of the recorded ones, secret ones among them. */
  readonly options?: NodeOptions | undefined
  /** Code in place of that at an address. */
  readonly code?: ReadonlyMap<Hex, Uint8Array> | undefined
  /** Values of the secrets in requests. */
  readonly secrets?: StandIns | undefined
}

/** The function of a version that makes nodes. */
export type NodeMaker = typeof createNode

/** The options of the recorded node. Throws `invalid-options` for secret ones that have to be given again. */
export function recordedOptions(
  { options, masked }: Header,
  { options: changed = {} }: Changes,
): NodeOptions {
  const given: Readonly<Record<string, unknown>> = { ...changed }
  const missing = masked.find((key) => given[key] === undefined)
  if (missing !== undefined) {
    const settings: Readonly<Record<string, { readonly flag: string }>> = NODE_SETTINGS
    const flag = settings[missing]?.flag.split(' ')[0] ?? missing
    throw new NodeError(
      'invalid-options',
      `The recording has no value of the secret option "${missing}": give it again (${flag}).`,
    )
  }
  const { alloc, ...plain } = options
  const merged: NodeOptions = { ...plain, ...changed }
  if (alloc === undefined) return merged
  return { ...merged, alloc: readAlloc(alloc) }
}

/** A connection of the recording. */
interface Connection {
  readonly session: Session
  readonly onClose: (() => void)[]
}

/** What a node reads of its replay: the time, in Unix seconds, and since when it runs on; and the timers that it has started. */
interface Controls {
  time: number
  startedAt: number | undefined
  /** What the end of each timer runs, in the order of their starts; `undefined` for one that was stopped. */
  readonly timers: ((() => Promise<void>) | undefined)[]
}

/** A node in this process. */
export class NodeTarget implements Target {
  readonly hasClock = true
  readonly eventDelay = 20
  readonly node: Node
  readonly #parts: Controls
  readonly #code: ReadonlyMap<Hex, Uint8Array>
  readonly #secrets: StandIns
  readonly #connections = new Map<string, Connection>()
  #listener: (to: string, event: unknown) => void = () => {}

  private constructor(node: Node, parts: Controls, { code = new Map(), secrets = new StandIns() }: Changes) {
    this.node = node
    this.#parts = parts
    this.#code = code
    this.#secrets = secrets
    node.on('message', ({ type, data }) => {
      this.#listener('in process', { jsonrpc: '2.0', method: type, params: data })
    })
  }

  /** Starts the recorded node, with changes. Throws `invalid-options`. */
  static async start(header: Header, changes: Changes, make: NodeMaker = createNode): Promise<NodeTarget> {
    const options = recordedOptions(header, changes)
    const parts: Controls = { time: header.time, timers: [], startedAt: undefined }
    const hasFrozenClock = options.frozenClock !== undefined && options.frozenClock !== false
    const elapsed = () =>
      parts.startedAt === undefined ? 0 : Math.floor((performance.now() - parts.startedAt) / 1000)
    const clocked = { ...options, ...(!hasFrozenClock && { now: () => parts.time + elapsed() }) }
    const intervalTimer: NodeOptions['intervalTimer'] = (_milliseconds, onEnd) => {
      const index = parts.timers.push(onEnd) - 1
      return () => {
        parts.timers[index] = undefined
      }
    }
    const node = await make({ ...clocked, intervalTimer }).catch((error: unknown) => {
      // A version from before recordings: its intervals are its own.
      if (make !== createNode && messageOf(error).includes('intervalTimer')) return make(clocked)
      throw error
    })
    return new NodeTarget(node, parts, changes)
  }

  async answer({ from, owner, calm, text }: RequestLine, recorded: unknown): Promise<unknown> {
    const request = this.#secrets.fill(recorded)
    const reply =
      from === 'in process' && text === undefined
        ? await this.#answerInProcess(request)
        : await this.node.dispatcher.dispatchText(
            text ?? JSON.stringify(request),
            this.#sessionOf(from, { owner, isCalm: calm }),
          )
    await this.#replaceCode()
    return typeof reply === 'string' ? JSON.parse(reply) : (reply ?? null)
  }

  async tick(timer: number): Promise<unknown> {
    const end = this.#parts.timers[timer - 1]
    this.#parts.timers[timer - 1] = undefined
    await end?.()
    await this.#replaceCode()
    const { block, hash } = this.node.engine.queries.head()
    return { number: `0x${block.header.number.toString(16)}`, hash }
  }

  setTime(time: number): void {
    this.#parts.time = time
  }

  /** Lets the clock run on from where it stands. */
  runClock(): void {
    this.#parts.startedAt = performance.now()
  }

  async reach(height: number): Promise<void> {
    const { events, queries } = this.node.engine
    const isThere = () => queries.head().block.header.number >= height
    if (isThere()) return
    await new Promise<void>((resolve) => {
      const stop = events.on('chain', () => {
        if (!isThere()) return
        stop()
        resolve()
      })
    })
  }

  onEvent(listener: (to: string, event: unknown) => void): void {
    this.#listener = listener
  }

  disconnect(from: string): void {
    const connection = this.#connections.get(from)
    this.#connections.delete(from)
    for (const listener of connection?.onClose ?? []) listener()
  }

  async loadState(text: string): Promise<void> {
    await this.node.request({ method: 'anvil_loadState', params: [text] })
  }

  async close(): Promise<void> {
    await this.node.close()
  }

  async #answerInProcess(request: unknown): Promise<unknown> {
    const { method, params } = InProcess.parse(request)
    try {
      if (method === 'override') {
        const [address, changes] = Override.parse(params)
        await this.node.override(address, changes)
        return { result: null }
      }
      if (method === 'addSources') {
        const [given] = Sources.parse(params)
        return { result: await this.node.addSources(given) }
      }
      return jsonCopy({ result: (await this.node.request({ method, params })) ?? null })
    } catch (error) {
      if (!(error instanceof RpcError) && !(error instanceof NodeError) && !(error instanceof Error))
        throw error
      const { code, message, data }: { code?: unknown; message: string; data?: unknown } = error
      return jsonCopy({ error: { code, message, data } })
    }
  }

  #sessionOf(
    from: string,
    { owner = '', isCalm }: { owner: string | undefined; isCalm: true | undefined },
  ): Session {
    const known = this.#connections.get(from)
    if (known !== undefined) return known.session
    const open = { ...openSession(from), owner, isCalm }
    if (from === 'http') return open
    const onClose: (() => void)[] = []
    const session: Session = {
      ...open,
      notify: ({ subscription, event }) => {
        const params = { subscription, result: JSON.parse(event.json) }
        this.#listener(from, { jsonrpc: '2.0', method: 'eth_subscription', params })
      },
      onClose: (listener) => void onClose.push(listener),
    }
    this.#connections.set(from, { session, onClose })
    return session
  }

  /** Puts the given code in the place of what was deployed at its address. */
  async #replaceCode(): Promise<void> {
    for (const [address, code] of this.#code) {
      const wanted = toHex(code)
      const there = await this.node.request({ method: 'eth_getCode', params: [address, 'latest'] })
      if (there === '0x' || there === wanted) continue
      await this.node.override(address, { code: wanted })
    }
  }
}

const InProcess = z.object({
  method: z.string(),
  params: z.union([z.array(z.unknown()), z.looseObject({})]).optional(),
})
const Override = z.tuple([HexText, z.looseObject({})])
const Sources = z.tuple([z.union([z.string(), z.looseObject({})])])

function jsonCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
