/** A collector of OpenTelemetry (OTLP over HTTP, JSON): keeps the spans and log records that it gets. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** A span as OTLP's JSON has it. */
export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly {
    readonly name: string
    readonly attributes: Readonly<Record<string, unknown>>
  }[]
  /** 2 is an error. */
  readonly status: { readonly code?: number }
  readonly service: unknown
}

/** A log record as OTLP's JSON has it. */
export interface CollectedLog {
  readonly body: { readonly stringValue?: string }
  readonly severityText?: string
  readonly traceId?: string
  readonly attributes: Readonly<Record<string, unknown>>
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const plain = (list: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))

// biome-ignore lint/suspicious/noExplicitAny: the nested lists of OTLP
const scoped = (body: any, resources: string, scopes: string, items: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: the same
  (body[resources] ?? []).flatMap((one: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: the same
    one[scopes].flatMap((scope: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: the same
      scope[items].map((item: any) => ({
        ...item,
        attributes: plain(item.attributes),
        service: plain(one.resource?.attributes)['service.name'],
      })),
    ),
  )

/** Starts a collector. */
export async function otlpCollector() {
  const spans: CollectedSpan[] = []
  const logs: CollectedLog[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    for (const span of scoped(body, 'resourceSpans', 'scopeSpans', 'spans')) {
      spans.push({
        ...span,
        events: (span.events ?? []).map((event: { name: string; attributes?: readonly Attribute[] }) => ({
          name: event.name,
          attributes: plain(event.attributes),
        })),
      })
    }
    logs.push(...scoped(body, 'resourceLogs', 'scopeLogs', 'logRecords'))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    spans,
    logs,
    /** The variables that make an SDK export here. */
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
    /** The spans of a trace. */
    trace: (traceId: string) => spans.filter((span) => span.traceId === traceId),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
