/** The setting of OpenTelemetry. */
import { yesOrNo } from './kinds.ts'
import { setting } from './setting.ts'

/** The setting of OpenTelemetry. */
export const TELEMETRY_SETTINGS = {
  telemetry: setting(yesOrNo, {
    flag: '--telemetry',
    help: 'trace requests, calls, frames of the EVM and requests to the upstream by OpenTelemetry, and ship log lines; needs @opentelemetry/api, and the command @opentelemetry/sdk-node, which the OTEL_ variables configure',
    fallback: false,
  }),
}
