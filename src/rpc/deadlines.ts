/**
 * How long each call may take: a method's own limit, else its namespace's, else that of the whole request
 * (docs/internals/rpc-reference.md#27-timeouts).
 */
import { NodeError } from '../errors.ts'
import type { AnyMethod, Context } from './method.ts'
import { namesOf, namespaceOf } from './method-names.ts'
import type { RpcOptions } from './rpc-options.ts'

/**
 * The deadline of a call that starts now, milliseconds since 1970; 0 is no limit. `request` is the deadline of the whole
 * request, which a call with a longer limit of its own extends by the difference.
 */
export type DeadlineOf = (method: AnyMethod, request: number) => number

/** Throws `invalid-options` for a name that is neither a method nor a namespace. */
export function checkMethodTimeouts(
  methodTimeouts: RpcOptions['methodTimeouts'],
  methods: readonly AnyMethod[],
): void {
  const known = new Set(methods.flatMap(namesOf).flatMap((name) => [name, namespaceOf(name)]))
  for (const name of Object.keys(methodTimeouts)) {
    if (known.has(name)) continue
    const message = `Option "methodTimeouts" names ${name}, which is neither a method nor a namespace.`
    throw new NodeError('invalid-options', message)
  }
}

/** Reads the table of limits. */
export function createDeadlines(
  { methodTimeouts, rpcTimeoutMs }: Pick<RpcOptions, 'methodTimeouts' | 'rpcTimeoutMs'>,
  methods: readonly AnyMethod[],
): DeadlineOf {
  const given = new Map(Object.entries(methodTimeouts))
  if (given.size === 0) return ({ waitsForUpstream }, request) => (waitsForUpstream ? 0 : request)

  const limits = new Map<AnyMethod, number>()
  for (const method of methods) {
    const names = namesOf(method)
    const limit = [...names, ...names.map(namespaceOf)].map((name) => given.get(name)).find(isGiven)
    if (limit !== undefined) limits.set(method, limit)
  }
  return (method, request) => {
    const limit = limits.get(method)
    if (limit === undefined) return method.waitsForUpstream ? 0 : request
    if (limit === 0) return 0
    const end = Date.now() + limit
    return request === 0 ? end : Math.min(end, request + Math.max(0, limit - rpcTimeoutMs))
  }
}

const isGiven = (limit: number | undefined): limit is number => limit !== undefined

/** Milliseconds that a call has left, at least one; 0 is no limit. */
export function timeLeft({ deadline }: Pick<Context, 'deadline'>): number {
  return deadline === 0 ? 0 : Math.max(1, deadline - Date.now())
}

/**
 * Settles as `work` does, or fails when the deadline (ms since 1970; 0 is none) passes first: with the error of `lateBy` if
 * given, else with the reference node's. The work itself continues.
 */
export function within(
  work: Promise<unknown>,
  deadline: number,
  lateBy?: () => NodeError | undefined,
): Promise<unknown> {
  return deadline === 0 ? work : until(work, deadline, lateBy)
}

async function until(
  work: Promise<unknown>,
  deadline: number,
  lateBy: (() => NodeError | undefined) | undefined,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    const fail = () => reject(lateBy?.() ?? new NodeError('limit-exceeded', 'Execution has got timeout out.'))
    timer = setTimeout(fail, Math.max(0, deadline - Date.now()))
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
