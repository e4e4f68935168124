/** A name for each request, so that a line in the log can be found by who asked, and the other way round. */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What a caller may call its request: short, and harmless in any log. */
const SANE = /^[\w.:+/=@-]{1,128}$/

/** Tells the ids of this process from those of any other. */
const process = randomBytes(6).toString('hex')
let count = 0

/** The caller's own `X-Request-Id` if it is sane, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && SANE.test(given) ? given : `${process}-${(++count).toString(36)}`
}
