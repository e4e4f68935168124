/** The frames of one run of the EVM as spans, and console.log as events of the frame that calls it. */
import { type Context, context, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { AbiCodec } from '../abi/codec.ts'
import { CONSOLE_ADDRESS, consoleText } from '../abi/console.ts'
import { toHex } from '../encoding/hex.ts'
import type { Tracer as EvmTracer, FrameEnd, FrameStart } from '../evm/tracing/tracer.ts'

/** Spans of one run; what it calls beyond is not traced. */
const MOST_FRAMES = 1000

interface OpenFrame {
  /** Absent for a frame without a span of its own: a call to the console, or one too many. */
  readonly span: Span | undefined
  readonly context: Context
}

/** Makes the spans of one run, below the span that is active when it begins. */
export class FrameSpans implements EvmTracer {
  readonly #tracer: Tracer
  readonly #codec: AbiCodec
  readonly #root: Context
  readonly #open: OpenFrame[] = []
  #count = 0

  constructor(tracer: Tracer, codec: AbiCodec, root: Context) {
    this.#tracer = tracer
    this.#codec = codec
    this.#root = root
  }

  enter(start: FrameStart): void {
    const parent = this.#open.at(-1)?.context ?? this.#root
    if (start.to === CONSOLE_ADDRESS) {
      trace.getSpan(parent)?.addEvent('console.log', { text: consoleText(start.input, this.#codec) })
      this.#open.push({ span: undefined, context: parent })
      return
    }
    this.#count++
    if (this.#count > MOST_FRAMES) {
      this.#open.push({ span: undefined, context: parent })
      return
    }
    const span = this.#tracer.startSpan(start.kind.toUpperCase(), { attributes: attributesOf(start) }, parent)
    this.#open.push({ span, context: trace.setSpan(parent, span) })
  }

  exit({ gasUsed, output, failure, created }: FrameEnd): void {
    const { span } = this.#open.pop() ?? {}
    if (span === undefined) return
    const left = this.#count - MOST_FRAMES
    if (this.#open.length === 0 && left > 0) span.setAttribute('evm.frames_without_span', left)
    span.setAttribute('evm.gas_used', Number(gasUsed))
    if (created !== undefined) span.setAttribute('evm.to', created)
    if (failure !== undefined) {
      span.setAttribute('evm.failure', failure.reason)
      if (output.length >= 4) span.setAttribute('evm.error_selector', toHex(output.subarray(0, 4)))
      span.setStatus({ code: SpanStatusCode.ERROR, message: failure.reason })
    }
    span.end()
  }
}

function attributesOf({ from, to, value, gas, input, isPrecompile }: FrameStart) {
  return {
    'evm.from': from,
    ...(to !== undefined && { 'evm.to': to }),
    ...(to !== undefined && input.length >= 4 && { 'evm.selector': toHex(input.subarray(0, 4)) }),
    'evm.value': value.toString(),
    'evm.gas': Number(gas),
    ...(isPrecompile && { 'evm.precompile': true }),
  }
}

/** The tracer of a run whose span is sampled; others run as fast as without telemetry. */
export function frameSpans(tracer: Tracer, codec: AbiCodec): FrameSpans | undefined {
  const active = context.active()
  return trace.getSpan(active)?.isRecording() === true ? new FrameSpans(tracer, codec, active) : undefined
}
