/** The debug adapter: one editor's session over the Debug Adapter Protocol, with a node's debugger behind it. */
import {
  DebugSession,
  InitializedEvent,
  Response,
  type Scope,
  TerminatedEvent,
  Thread,
} from '@vscode/debugadapter'
import type { DebugProtocol } from '@vscode/debugprotocol'
import { messageOf } from '../../errors.ts'
import { createRemote } from '../remote.ts'
import { EditorBreakpoints } from './breakpoints.ts'
import { CAPABILITIES } from './capabilities.ts'
import { type Conversions, EditorPlaces } from './editor-places.ts'
import { framesOf } from './frames.ts'
import { Moves, stoppedEvent, THREAD } from './moves.ts'
import { faultOf } from './requests.ts'
import { SourcePaths } from './source-paths.ts'
import { type LaunchOptions, launchOptions, targetOf } from './targets.ts'
import { VariableReferences } from './variables.ts'
import { type Move, RemoteSession, type WirePlace } from './wire.ts'

/** Of every error that a request of an editor gets. */
const ERROR_CODE = 1

/** What a session has once a target is open. */
interface Open {
  readonly session: RemoteSession
  readonly places: EditorPlaces
  readonly variables: VariableReferences
}

/** One editor's session. */
export class NodeDebugSession extends DebugSession {
  #options: LaunchOptions | undefined
  #open: Open | undefined
  readonly #breakpoints = new EditorBreakpoints()
  readonly #moves = new Moves({
    session: () => this.#open?.session,
    breakpoints: () => this.#breakpoints.wire,
    onStop: (place) => this.#stopped(place),
    onEnd: (event) => this.sendEvent(event),
  })
  readonly #conversions: Conversions = {
    lineToClient: (line) => this.convertDebuggerLineToClient(line),
    lineFromClient: (line) => this.convertClientLineToDebugger(line),
    columnToClient: (column) => this.convertDebuggerColumnToClient(column),
    pathToClient: (path) => this.convertDebuggerPathToClient(path),
    pathFromClient: (path) => this.convertClientPathToDebugger(path),
  }
  #isOver = false

  constructor() {
    super()
    this.setDebuggerLinesStartAt1(true)
    this.setDebuggerColumnsStartAt1(true)
  }

  override start(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): void {
    super.start(framesOf(input), output)
  }

  /** The editor has gone, or was sent away: the session on the node ends too. */
  override shutdown(): void {
    void this.#close()
    super.shutdown()
  }

  protected override dispatchRequest(request: DebugProtocol.Request): void {
    const given: unknown = request.arguments ?? {}
    const fault = faultOf(request.command, given)
    if (fault === undefined) super.dispatchRequest({ ...request, arguments: given })
    else this.sendErrorResponse(new Response(request), { id: ERROR_CODE, format: fault, showUser: true })
  }

  protected override initializeRequest(response: DebugProtocol.InitializeResponse): void {
    response.body = CAPABILITIES
    this.sendResponse(response)
  }

  /** Runs the work of a request, and answers it; what the work throws is the answer otherwise. Returns whether it was done. */
  async #answer(response: DebugProtocol.Response, work: () => Promise<void> | void): Promise<boolean> {
    try {
      await work()
    } catch (error) {
      this.sendErrorResponse(response, { id: ERROR_CODE, format: messageOf(error), showUser: true })
      return false
    }
    this.sendResponse(response)
    return true
  }

  #opened(): Open {
    if (this.#open === undefined) throw new Error('nothing is being debugged')
    return this.#open
  }

  async #start(response: DebugProtocol.Response, given: unknown): Promise<void> {
    const isOpen = await this.#answer(response, async () => {
      const options = launchOptions(given)
      const session = await RemoteSession.open(createRemote(options.url), await targetOf(options))
      if (session === undefined)
        throw new Error('There is nothing to debug: it is not known, or runs no code.')
      if (this.#isOver || this.#open !== undefined) {
        await session.close()
        throw new Error('The session is over, or debugs something already.')
      }
      this.#options = options
      this.#open = {
        session,
        places: new EditorPlaces(
          session.sources,
          new SourcePaths(session.sources, options.sourceRoot ?? process.cwd()),
          this.#conversions,
        ),
        variables: new VariableReferences(session),
      }
    })
    if (isOpen) this.sendEvent(new InitializedEvent())
  }

  protected override launchRequest(
    response: DebugProtocol.LaunchResponse,
    given: DebugProtocol.LaunchRequestArguments,
  ): void {
    void this.#start(response, given)
  }

  protected override attachRequest(
    response: DebugProtocol.AttachResponse,
    given: DebugProtocol.AttachRequestArguments,
  ): void {
    void this.#start(response, given)
  }

  protected override configurationDoneRequest(response: DebugProtocol.ConfigurationDoneResponse): void {
    this.sendResponse(response)
    const place = this.#open?.session.place
    if (place === undefined) return
    if (place.reason === 'start' && this.#options?.stopOnEntry === false) {
      this.#moves.add({ move: 'continue', direction: 'forward' })
    } else this.#stopped(place)
  }

  #stopped(place: WirePlace): void {
    this.#open?.variables.reset()
    this.sendEvent(stoppedEvent(place))
  }

  #moving(response: DebugProtocol.Response, move: Move, granularity?: string): void {
    void this.#answer(response, () => void this.#opened())
    this.#moves.add(granularity === 'instruction' ? { ...move, move: 'instruction' } : move)
  }

  protected override continueRequest(response: DebugProtocol.ContinueResponse): void {
    response.body = { allThreadsContinued: true }
    this.#moving(response, { move: 'continue', direction: 'forward' })
  }

  protected override reverseContinueRequest(response: DebugProtocol.ReverseContinueResponse): void {
    this.#moving(response, { move: 'continue', direction: 'back' })
  }

  protected override nextRequest(
    response: DebugProtocol.NextResponse,
    { granularity }: DebugProtocol.NextArguments,
  ): void {
    this.#moving(response, { move: 'over', direction: 'forward' }, granularity)
  }

  protected override stepInRequest(
    response: DebugProtocol.StepInResponse,
    { granularity }: DebugProtocol.StepInArguments,
  ): void {
    this.#moving(response, { move: 'into', direction: 'forward' }, granularity)
  }

  protected override stepOutRequest(response: DebugProtocol.StepOutResponse): void {
    this.#moving(response, { move: 'out', direction: 'forward' })
  }

  protected override stepBackRequest(
    response: DebugProtocol.StepBackResponse,
    { granularity }: DebugProtocol.StepBackArguments,
  ): void {
    this.#moving(response, { move: 'over', direction: 'back' }, granularity)
  }

  protected override threadsRequest(response: DebugProtocol.ThreadsResponse): void {
    response.body = { threads: [new Thread(THREAD, 'transaction')] }
    this.sendResponse(response)
  }

  protected override stackTraceRequest(
    response: DebugProtocol.StackTraceResponse,
    { startFrame = 0, levels = 0 }: DebugProtocol.StackTraceArguments,
  ): void {
    void this.#answer(response, () => {
      const { session, places } = this.#opened()
      const frames = session.place.stack.map((frame, index) => places.frame(frame, index))
      const end = levels > 0 ? startFrame + levels : undefined
      response.body = { stackFrames: frames.slice(startFrame, end), totalFrames: frames.length }
    })
  }

  protected override scopesRequest(
    response: DebugProtocol.ScopesResponse,
    { frameId }: DebugProtocol.ScopesArguments,
  ): void {
    void this.#answer(response, () => {
      response.body = { scopes: this.#opened().variables.scopes(frameId) satisfies Scope[] }
    })
  }

  protected override variablesRequest(
    response: DebugProtocol.VariablesResponse,
    { variablesReference, start, count }: DebugProtocol.VariablesArguments,
  ): void {
    void this.#answer(response, async () => {
      response.body = { variables: await this.#opened().variables.of(variablesReference, start, count) }
    })
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    { expression, frameId = 0 }: DebugProtocol.EvaluateArguments,
  ): void {
    void this.#answer(response, async () => {
      const value = await this.#opened().session.evaluate(frameId, expression)
      response.body = { result: value.value, type: value.type, variablesReference: 0 }
    })
  }

  protected override setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse,
    { source, breakpoints = [] }: DebugProtocol.SetBreakpointsArguments,
  ): void {
    void this.#answer(response, () => {
      const { places } = this.#opened()
      response.body = { breakpoints: this.#breakpoints.setLines(source, breakpoints, places) }
    })
  }

  protected override setExceptionBreakPointsRequest(
    response: DebugProtocol.SetExceptionBreakpointsResponse,
    { filters }: DebugProtocol.SetExceptionBreakpointsArguments,
  ): void {
    this.#breakpoints.filters = filters
    this.sendResponse(response)
  }

  protected override exceptionInfoRequest(response: DebugProtocol.ExceptionInfoResponse): void {
    void this.#answer(response, () => {
      const { failure } = this.#opened().session.place
      response.body = {
        exceptionId: 'failure',
        breakMode: 'always',
        ...(failure !== undefined && { description: failure }),
      }
    })
  }

  protected override sourceRequest(
    response: DebugProtocol.SourceResponse,
    { sourceReference }: DebugProtocol.SourceArguments,
  ): void {
    void this.#answer(response, () => {
      const found = this.#opened().session.sources[sourceReference - 1]
      if (found === undefined) throw new Error('there is no such source')
      response.body = { content: found.content, mimeType: 'text/plain' }
    })
  }

  protected override loadedSourcesRequest(response: DebugProtocol.LoadedSourcesResponse): void {
    void this.#answer(response, () => {
      const { session, places } = this.#opened()
      response.body = { sources: session.sources.map(({ file }) => places.sourceAt(file)) }
    })
  }

  async #close(): Promise<void> {
    this.#isOver = true
    const open = this.#open
    this.#open = undefined
    // The node may be gone already.
    await open?.session.close().catch(() => {})
  }

  protected override terminateRequest(response: DebugProtocol.TerminateResponse): void {
    this.sendResponse(response)
    this.sendEvent(new TerminatedEvent())
  }

  protected override disconnectRequest(response: DebugProtocol.DisconnectResponse): void {
    void this.#close().then(() => {
      this.sendResponse(response)
      super.shutdown()
    })
  }
}
