/** What the adapter can do, as it tells an editor. */
import type { DebugProtocol } from '@vscode/debugprotocol'

/** The answer to `initialize`. */
export const CAPABILITIES: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsEvaluateForHovers: true,
  supportsExceptionInfoRequest: true,
  supportsSteppingGranularity: true,
  supportsLoadedSourcesRequest: true,
  supportsTerminateRequest: true,
  exceptionBreakpointFilters: [
    {
      filter: 'failures',
      label: 'Reverts and failures',
      description: 'Also those that code catches',
      default: true,
    },
    { filter: 'events', label: 'Events', description: 'Stop where an event is logged', default: false },
  ],
}
