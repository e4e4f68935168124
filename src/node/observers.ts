/** The telemetry of a node; its code, and OpenTelemetry's, are not loaded without the option. */
import { messageOf, NodeError } from '../errors.ts'
import type { ResolvedNodeOptions } from '../options/options.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { VERSION } from './parts.ts'

/** The refusal of an option whose package is not installed. */
export function missingPackage(name: string, error: unknown): NodeError {
  const message = `Option "telemetry" needs the package ${name} (npm install ${name}): ${messageOf(error)}`
  return new NodeError('invalid-options', message)
}

/** The observers that the options ask for. Throws `invalid-options` where the API of OpenTelemetry is not installed. */
export async function telemetryOf({
  telemetry,
}: Pick<ResolvedNodeOptions, 'telemetry'>): Promise<Telemetry | undefined> {
  if (!telemetry) return undefined
  const opened = await import('../telemetry/telemetry.ts').catch((error) => {
    throw missingPackage('@opentelemetry/api', error)
  })
  return opened.openTelemetry(VERSION)
}
