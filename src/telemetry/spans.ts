/** Spans of messages, calls and commands by OpenTelemetry's API: children of the span in the caller's header, or of the active one. */
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { CallObserver } from '../rpc/call-observer.ts'
import { toErrorObject } from '../rpc/error-codes.ts'
import type { Session } from '../rpc/session.ts'

/** Notes on a span why its work failed: the code and the message that the caller gets. */
function fail(span: Span, error: unknown): void {
  const { code, message } = toErrorObject(error)
  span.setAttribute('rpc.jsonrpc.error_code', code)
  span.setAttribute('rpc.jsonrpc.error_message', message)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}

/** Runs work within a span, which ends with it. */
export function within<T>(span: Span, parent: Context, run: () => T): T {
  let outcome: T
  try {
    outcome = context.with(trace.setSpan(parent, span), run)
  } catch (error) {
    fail(span, error)
    span.end()
    throw error
  }
  if (!(outcome instanceof Promise)) {
    span.end()
    return outcome
  }
  outcome.then(
    () => span.end(),
    (error: unknown) => {
      fail(span, error)
      span.end()
    },
  )
  return outcome
}

/**
 * The context of a message: that of the caller's header. The active one counts where it is of the same trace, since
 * instrumentation of `node:http` has then made a span out of that header, and where there is no header. A span that has
 * ended is none: connections are accepted in the context in which the server began to listen.
 */
function contextOf({ carrier }: Session): Context {
  const active = context.active()
  const current = trace.getSpan(active)
  const sent = carrier === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, carrier)
  const remote = trace.getSpanContext(sent)
  if (remote !== undefined && remote.traceId !== current?.spanContext().traceId) return sent
  return current?.isRecording() === true ? active : sent
}

/** Observes the calls of one node. */
export class Spans implements CallObserver {
  readonly #tracer: Tracer

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  message<T>(session: Session, run: () => T): T {
    const { label, remote, requestId, userAgent } = session
    const parent = contextOf(session)
    const attributes = {
      'rpc.system': 'jsonrpc',
      'tandem.transport': label,
      ...(remote !== undefined && { 'client.address': remote }),
      ...(requestId !== undefined && { 'tandem.request_id': requestId }),
      ...(userAgent !== undefined && { 'user_agent.original': userAgent }),
    }
    // A transport numbers its connections, and names of spans are few.
    const name = `${label.replace(/ \d+$/, '')} message`
    return within(this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent), parent, run)
  }

  call<T>(name: string, run: () => T): T {
    const parent = context.active()
    const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': name }
    return within(this.#tracer.startSpan(name, { attributes }, parent), parent, run)
  }

  slot<T>(run: () => Promise<T>): Promise<T> {
    const parent = context.active()
    return within(this.#tracer.startSpan('queue of heavy calls', {}, parent), parent, run)
  }

  carrier(): Readonly<Record<string, string>> {
    const fields: Record<string, string> = {}
    propagation.inject(context.active(), fields)
    return fields
  }

  readonly command: CallObserver['command'] = () => {
    // The queue runs the command in the context of another one.
    const parent = context.active()
    const queued = this.#tracer.startSpan('queue', {}, parent)
    return (job) => {
      queued.end()
      return within(this.#tracer.startSpan('execution', {}, parent), parent, job)
    }
  }
}
