/** OpenTelemetry's SDK of the command: exporters, sampler and resource are those that the `OTEL_` variables name. */
import { ProxyTracerProvider, trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'

/** A started SDK. */
export interface StartedSdk {
  /** Sends what has not been sent yet. */
  shutdown(): Promise<void>
}

/** What the variables name unless they are set. */
const DEFAULTS = { OTEL_SERVICE_NAME: 'tandem', OTEL_METRICS_EXPORTER: 'none' } as const

/** Has the process an SDK already, as with `--import @opentelemetry/auto-instrumentations-node/register`? */
function isRegistered(): boolean {
  const provider = trace.getTracerProvider()
  if (!(provider instanceof ProxyTracerProvider)) return true
  return provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
}

/** Starts the SDK unless the process has one. Metrics are on the node's page `/metrics` and are not pushed. */
export function startSdk(): StartedSdk | undefined {
  if (isRegistered()) return undefined
  for (const [name, value] of Object.entries(DEFAULTS)) process.env[name] ??= value
  const sdk = new NodeSDK({ instrumentations: [] })
  sdk.start()
  return { shutdown: () => sdk.shutdown() }
}
