/** The checks that every HTTP request passes first, whatever its path and verb. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostCheck } from './host-check.ts'
import { requestIdOf } from './incoming-request.ts'
import { forbidden, refuse } from './refusal.ts'

/** Names the request in the logs and in its response. */
export const REQUEST_ID_HEADER = 'X-Request-Id'

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
    const origin = check.corsOrigin(headers)
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin)
      response.setHeader('Access-Control-Expose-Headers', `Retry-After, ${REQUEST_ID_HEADER}`)
      if (origin !== '*') response.setHeader('Vary', 'Origin')
    }
    return requestId
  }
}
