/** Log lines as OpenTelemetry's log records, with the trace in which they were written; the node's own logger gets them too. */

import * as api from '@opentelemetry/api'
import type { AnyValueMap, Logger as LogSink, logs, SeverityNumber } from '@opentelemetry/api-logs'
import { messageOf } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** OpenTelemetry's numbers of the levels (https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber). */
const SEVERITIES: Readonly<Record<keyof Logger, SeverityNumber>> = { debug: 5, info: 9, warn: 13, error: 17 }

type LogsApi = typeof logs

/** The API of logs: a part of `@opentelemetry/api` from 1.10 on, before that a package that the SDK brings. */
export async function logsApi(): Promise<LogsApi | undefined> {
  const own: LogsApi | undefined = Reflect.get(api, 'logs')
  if (own !== undefined) return own
  return import('@opentelemetry/api-logs').then(
    (found) => found.logs,
    () => undefined,
  )
}

function attributesOf(fields: Readonly<Record<string, unknown>>): AnyValueMap {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (value instanceof Error) return [name === 'error' ? 'exception.message' : name, messageOf(value)]
      const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
      return [name, isPlain ? (value as string | number | boolean) : String(value)]
    }),
  )
}

/** A logger that also ships what it gets. */
export function shippedLogger(logger: Logger, sink: LogSink): Logger {
  const level =
    (name: keyof Logger): Logger['info'] =>
    (message, fields) => {
      logger[name](message, fields)
      sink.emit({
        severityNumber: SEVERITIES[name],
        severityText: name.toUpperCase(),
        body: message,
        attributes: attributesOf(fields ?? {}),
      })
    }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}
