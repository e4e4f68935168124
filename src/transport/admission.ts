/** The checks that every HTTP request passes first, whatever its path and verb. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallerHeaders, HostCheck } from './host-check.ts'
import { requestIdOf } from './incoming-request.ts'
import { forbidden, refuse } from './refusal.ts'

/** Names the request in the logs and in its response. */
export const REQUEST_ID_HEADER = 'X-Request-Id'

/** The CORS fields of the response to an accepted caller; none where it needs none. */
export function corsFields(check: HostCheck, headers: CallerHeaders): Readonly<Record<string, string>> {
  const origin = check.corsOrigin(headers)
  if (origin === undefined) return {}
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': `Retry-After, ${REQUEST_ID_HEADER}`,
    ...(origin !== '*' && { Vary: 'Origin' }),
  }
}

/**
 * Makes the checks: they refuse a foreign Host or Origin, and set the CORS headers. The ID of an accepted request, which
 * its response has to carry; `undefined` when the request has been refused.
 */
export function createAdmission(
  check: HostCheck,
  isClosing: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => string | undefined {
  return (request, response) => {
    // A caller that disconnects in the middle is not an error of the node.
    request.on('error', () => {})
    if (isClosing()) response.setHeader('Connection', 'close')
    const { headers } = request
    const requestId = requestIdOf(headers)
    const reason = check.refusal(headers)
    if (reason !== undefined) {
      response.setHeader(REQUEST_ID_HEADER, requestId)
      refuse(response, forbidden(reason))
      return undefined
    }
    const fields = corsFields(check, headers)
    for (const name in fields) response.setHeader(name, fields[name] as string)
    return requestId
  }
}
