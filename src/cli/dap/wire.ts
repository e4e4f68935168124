/** The debugger of a node, as it answers over JSON-RPC. */
import { z } from 'zod'
import {
  debugFrameMembers,
  debugMachineMembers,
  debugPlaceMembers,
  debugSourceMembers,
  debugVariableMembers,
} from '../../rpc/wire/debugger-answers.ts'
import type { Remote } from '../remote.ts'

// A node of another version may answer more members.
const Frame = z.looseObject(debugFrameMembers())
/** An open frame. */
export type WireFrame = z.output<typeof Frame>

const Place = z.looseObject({ ...debugPlaceMembers(), stack: z.array(Frame) })
/** Where a session stands. */
export type WirePlace = z.output<typeof Place>

const Variable = z.looseObject(debugVariableMembers())
/** A variable, or a part of one. */
export type WireVariable = z.output<typeof Variable>

const Machine = z.looseObject(debugMachineMembers())
/** Stack, memory and storage of a frame. */
export type WireMachine = z.output<typeof Machine>

const Source = z.looseObject(debugSourceMembers())
/** A source of the execution, and the lines at which statements begin. */
export type WireSource = z.output<typeof Source>

/** What is to be debugged: a method that opens it, with its parameters. */
export interface DebugTargetCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What `continue` stops at. */
export interface WireBreakpoints {
  readonly lines: readonly { readonly file: string; readonly line: number }[]
  readonly anyEvent: boolean
  readonly failures: boolean
}

/** How a session moves. */
export interface Move {
  readonly move: 'into' | 'over' | 'out' | 'instruction' | 'continue'
  readonly direction: 'forward' | 'back'
}

/** A session on a node. All throw `NodeError`. */
export class RemoteSession {
  readonly #remote: Remote
  readonly #id: string
  readonly sources: readonly WireSource[]
  #place: WirePlace

  private constructor(remote: Remote, place: WirePlace, sources: readonly WireSource[]) {
    this.#remote = remote
    this.#id = place.session
    this.#place = place
    this.sources = sources
  }

  /** Opens a session; `undefined` where there is nothing to debug. */
  static async open(remote: Remote, { method, params }: DebugTargetCall): Promise<RemoteSession | undefined> {
    const place = await remote.call(method, params, Place.nullable())
    if (place === null) return undefined
    return new RemoteSession(
      remote,
      place,
      await remote.call('evm_debugSources', [place.session], z.array(Source)),
    )
  }

  get place(): WirePlace {
    return this.#place
  }

  async move({ move, direction }: Move, breakpoints: WireBreakpoints): Promise<WirePlace> {
    this.#place = await this.#remote.call('evm_debugMove', [this.#id, move, direction, breakpoints], Place)
    return this.#place
  }

  /** The variables of a scope, or the parts of one; none where they are not known. */
  async variables(
    frame: number,
    scope: string,
    path: readonly string[],
    [start, count]: readonly [number, number],
  ): Promise<readonly WireVariable[]> {
    const params = [this.#id, frame, scope, path, start, count]
    return (await this.#remote.call('evm_debugVariables', params, z.array(Variable).nullable())) ?? []
  }

  evaluate(frame: number, expression: string): Promise<WireVariable> {
    return this.#remote.call('evm_debugEvaluate', [this.#id, frame, expression], Variable)
  }

  async machine(frame: number): Promise<WireMachine | undefined> {
    return (await this.#remote.call('evm_debugMachine', [this.#id, frame], Machine.nullable())) ?? undefined
  }

  async close(): Promise<void> {
    await this.#remote.call('evm_debugClose', [this.#id], z.boolean())
  }
}
