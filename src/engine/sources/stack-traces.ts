/** Stack traces of transactions and calls: they run again, with a recorder, if the node knows any sources. */
import { type AbiCodec, loadAbiCodec } from '../../abi/codec.ts'
import { type AbiRegistry, decodedText } from '../../abi/registry.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { NodeError, SourceFrame } from '../../errors.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { CallRequest } from '../../execution/request.ts'
import { MessageRecorder, type RecordedMessage } from '../../source-level/message-recorder.ts'
import { calledMessages } from '../../source-level/stack/called-messages.ts'
import { caughtFailures } from '../../source-level/stack/caught-failures.ts'
import type { MessageRun } from '../../source-level/stack/message-run.ts'
import { shownFrame } from '../../source-level/stack/shown-frame.ts'
import { StackTracer, type TraceSources } from '../../source-level/stack/stack-trace.ts'
import type { Emitter } from '../events.ts'
import type { BlockReference, EngineEvents, FailedCall, SimulationOptions } from '../model.ts'
import type { Replays } from '../queries/replay.ts'
import type { Simulations } from '../queries/simulate.ts'
import type { CodeMaps } from './code-maps.ts'
import type { SourceTrace, SourceTraces } from './model.ts'
import type { SourceStore } from './source-store.ts'

/** Bytes that the record of a run may take. */
const RECORD_BYTES = 256 << 20
/** Milliseconds that a run may take for the stack of its error. */
const TIMEOUT_MS = 2000

interface Parts {
  readonly store: SourceStore
  readonly maps: CodeMaps
  readonly names: AbiRegistry
  readonly events: Emitter<EngineEvents>
  readonly queries: Pick<Replays, 'replay'> & Pick<Simulations, 'traceCall'> & TransactionLookup
}

interface TransactionLookup {
  transaction(hash: `0x${string}`): { readonly block?: ExecutedBlock; readonly index?: number } | undefined
}

/** Stack traces by the sources of one engine. */
export class StackTraces implements SourceTraces {
  readonly #parts: Parts
  readonly #failedCalls = new WeakMap<NodeError, FailedCall>()

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('failedCall', (call) => void this.#failedCalls.set(call.error, call))
  }

  /** Does the node know any sources? */
  async hasSources(): Promise<boolean> {
    return (await this.#parts.store.ids()).length > 0
  }

  /** The frames of the failed call, estimate or mined transaction that this error reports; none without sources. */
  async ofError(error: NodeError): Promise<readonly SourceFrame[]> {
    if (!(await this.hasSources())) return []
    const root = await this.#rootOf(error)
    if (root?.failure === undefined) return []
    return new StackTracer(await this.#sourcesOf(root)).trace(root).map(shownFrame)
  }

  /** Runs the transaction at an index of a block again. Throws as `replay` does. */
  async ofTransaction(block: ExecutedBlock, index: number, timeoutMs?: number): Promise<SourceTrace> {
    return this.#explain(await this.#transactionRoot(block, index, timeoutMs))
  }

  /** Runs a call. Throws as `traceCall` does. */
  async ofCall(
    request: CallRequest,
    reference: BlockReference,
    options: SimulationOptions,
  ): Promise<SourceTrace> {
    return this.#explain(await this.#callRoot(request, reference, options))
  }

  async #rootOf(error: NodeError): Promise<RecordedMessage | undefined> {
    const call = this.#failedCalls.get(error)
    if (call !== undefined) {
      return this.#callRoot(call.request, call.reference, { ...call.options, timeoutMs: TIMEOUT_MS })
    }
    const hash = error.failure?.transactionHash
    const { block, index } = (hash && this.#parts.queries.transaction(hash)) || {}
    return block && index !== undefined ? this.#transactionRoot(block, index, TIMEOUT_MS) : undefined
  }

  async #callRoot(
    request: CallRequest,
    reference: BlockReference,
    options: SimulationOptions,
  ): Promise<RecordedMessage | undefined> {
    const recorder = new MessageRecorder(new TraceBudget(RECORD_BYTES))
    await this.#parts.queries.traceCall(request, reference, recorder, options)
    return recorder.root
  }

  async #transactionRoot(
    block: ExecutedBlock,
    index: number,
    timeoutMs: number | undefined,
  ): Promise<RecordedMessage | undefined> {
    const recorder = new MessageRecorder(new TraceBudget(RECORD_BYTES))
    const tracerOf = (_: unknown, at: number) => (at === index ? recorder : undefined)
    await this.#parts.queries.replay(block, tracerOf, { lastIndex: index, timeoutMs })
    return recorder.root
  }

  async #explain(root: RecordedMessage | undefined): Promise<SourceTrace> {
    if (root === undefined) return { failed: false, frames: [], caught: [], calls: [] }
    const sources = await this.#sourcesOf(root)
    const tracer = new StackTracer(sources)
    return {
      failed: root.failure !== undefined,
      frames: tracer.trace(root).map(shownFrame),
      caught: caughtFailures(root, tracer),
      calls: calledMessages(root, sources.codeOf),
    }
  }

  async #sourcesOf(root: RecordedMessage): Promise<TraceSources> {
    const codec = await loadAbiCodec()
    return {
      codeOf: await this.#parts.maps.of(root),
      errorText: (run) => this.#errorText(run, codec),
      fitsArguments: ({ inputs }, input) => codec.decode(inputs, input.subarray(4)) !== undefined,
    }
  }

  /** A custom error with its arguments: of the contract, of its compilation, or of any known one. */
  #errorText({ code, message }: MessageRun, codec: AbiCodec): string | undefined {
    const { output, to } = message
    const entry = code.entry('error', Buffer.from(output.subarray(0, 4)).toString('hex'))
    const values = entry && codec.decode(entry.inputs, output.subarray(4))
    if (entry !== undefined && values !== undefined) {
      return decodedText({ name: entry.name, parameters: entry.inputs, values })
    }
    const known = this.#parts.names.error(output, to)
    return known && decodedText(known)
  }
}
