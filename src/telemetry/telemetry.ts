/** What a node does for OpenTelemetry, by the API alone: spans and log records go to the SDK that the process has registered. */
import { trace } from '@opentelemetry/api'
import { loadAbiCodec } from '../abi/codec.ts'
import type { RunObserver } from '../engine/recording/recordings.ts'
import type { Logger } from '../logger.ts'
import type { CallObserver } from '../rpc/call-observer.ts'
import type { SenderObserver } from '../upstream/environment.ts'
import { frameSpans } from './frame-spans.ts'
import { logsApi, shippedLogger } from './shipped-logger.ts'
import { Spans } from './spans.ts'
import { observedSender } from './upstream-spans.ts'

const SCOPE = 'tandem'

/** The observers of one node. */
export interface Telemetry {
  readonly calls: CallObserver
  readonly runs: RunObserver
  readonly upstream: SenderObserver
  /** The same logger, whose lines are shipped as well. */
  shipped(logger: Logger): Logger
}

/** Makes the observers of a node; `version` is that of this software. */
export async function openTelemetry(version: string): Promise<Telemetry> {
  const tracer = trace.getTracer(SCOPE, version)
  const [codec, logs] = await Promise.all([loadAbiCodec(), logsApi()])
  const sink = logs?.getLogger(SCOPE, version)
  return {
    calls: new Spans(tracer),
    // An estimate runs the same code dozens of times.
    runs: (kind) => (kind === 'estimates' ? undefined : frameSpans(tracer, codec)),
    upstream: (sender) => observedSender(sender, tracer),
    shipped: (logger) => (sink === undefined ? logger : shippedLogger(logger, sink)),
  }
}
