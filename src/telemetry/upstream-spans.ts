/** Requests to the upstream of a fork as spans, whose context goes along in the header (W3C Trace Context). */
import { context, propagation, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { originOf, type Sender } from '../upstream/sender.ts'
import { within } from './spans.ts'

/** Observes a sender. A WebSocket has no header for each message: its requests have spans, and pass no context on. */
export function observedSender(sender: Sender, tracer: Tracer): Sender {
  return {
    post(target, body, clock, signal) {
      const parent = context.active()
      const attributes = { 'server.address': originOf(target.url), 'rpc.system': 'jsonrpc' }
      const calls = body.ids.length
      const span = tracer.startSpan(
        'upstream request',
        { kind: SpanKind.CLIENT, attributes: { ...attributes, 'tandem.calls': calls } },
        parent,
      )
      const fields: Record<string, string> = {}
      propagation.inject(trace.setSpan(parent, span), fields)
      const headers = [...target.headers, ...Object.entries(fields)]
      return within(span, parent, async () => {
        const outcome = await sender.post({ ...target, headers }, body, clock, signal)
        if (outcome.kind !== 'answered') span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.why })
        return outcome
      })
    },
  }
}
