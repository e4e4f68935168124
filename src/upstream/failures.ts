/** The errors of an upstream that gives no answer: where, why, how often it was asked, and what the user can do. */
import { NodeError, type UpstreamFailure } from '../errors.ts'
import type { Endpoint, Endpoints } from './endpoints.ts'
import type { Progress } from './work.ts'

/** The client was closed. */
export const closed = (): NodeError => new NodeError('upstream', 'The fork was closed.')

function place({ origin }: Endpoint, { all }: Endpoints): string {
  return all.length > 1 ? `${origin} (and ${all.length - 1} more URLs)` : origin
}

const count = (attempts: number): string => (attempts === 0 ? 'not asked again yet' : `attempt ${attempts}`)

function dataOf({ origin, lastStatus }: Endpoint, { attempts }: Progress): UpstreamFailure {
  return { url: origin, attempt: attempts, ...(lastStatus !== undefined && { status: lastStatus }) }
}

/** A request that no endpoint answered. */
export function unusable(endpoint: Endpoint, progress: Progress, endpoints: Endpoints): NodeError {
  const where = place(endpoint, endpoints)
  return new NodeError(
    'upstream',
    `The upstream ${where} cannot be used: ${endpoint.lastFailure} (${count(progress.attempts)}). Check the URL, or add a second --fork <url>.`,
    dataOf(endpoint, progress),
  )
}

/** A request that was refused for too many of them; `now` is milliseconds since 1970. */
export function limited(
  endpoint: Endpoint,
  progress: Progress,
  endpoints: Endpoints,
  now: number,
): NodeError {
  const pause = Math.ceil(Math.max(0, endpoint.notBefore - now) / 1000)
  return new NodeError(
    'upstream',
    `The upstream ${place(endpoint, endpoints)} refuses further requests: ${endpoint.lastFailure} (${count(progress.attempts)}). ` +
      `Try again in ${pause} s, lower --fork-rate, or add a second --fork <url>.`,
    dataOf(endpoint, progress),
  )
}

/** A request that is still open after `age` milliseconds. */
export function late(
  { origin, failures, lastFailure }: Endpoint,
  { attempts }: Progress,
  age: number,
): NodeError {
  const last = failures > 0 ? ` The last attempt failed: ${lastFailure}.` : ''
  return new NodeError(
    'upstream',
    `The upstream ${origin} has not answered in time: a request is open for ${age} ms (attempt ${attempts}).${last} Check the URL, or add a second --fork <url>.`,
    { url: origin, attempt: attempts },
  )
}
