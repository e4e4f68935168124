/** What a node waits for before it is ready. */
import { errors } from '@nats-io/transport-node'
import { NodeError } from '../errors.ts'
import type { Member } from './member.ts'
import type { RoleOption } from './model.ts'

/** Longest wait for the first leader, for a snapshot, and for the lease of a node that has to lead. */
const START_MS = 30_000
const POLL_MS = 50
/** Time in which the announcement of a leader arrives. */
const ANNOUNCED_MS = 1_500

/** Asks again until there is an answer; throws `cluster` with `what` is missing after `START_MS`. */
export async function waitFor<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  what: string | (() => string),
): Promise<T> {
  const until = performance.now() + START_MS
  while (performance.now() < until) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new NodeError(
    'cluster',
    `${typeof what === 'string' ? what : what()} after ${START_MS / 1000} seconds.`,
  )
}

/** The first of the errors that led to this one. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : error
}

/** Resolves once a node leads if it has to, and has read the log to the message `last`. Throws `cluster`. */
export async function untilReady(
  { role, name }: { readonly role: RoleOption; readonly name: string },
  member: Member,
  last: number,
): Promise<void> {
  const begun = performance.now()
  const isReady = () => {
    if (member.role === 'leader') return true
    const cause = causeOf(member.obstacle)
    // These errors do not pass with time.
    if (cause instanceof errors.PermissionViolationError) throw cause
    if (role === 'leader' || member.sequence < last) return undefined
    // A follower also answers reads while there is no leader.
    const mayBeAlone = role === 'follower' && performance.now() - begun > ANNOUNCED_MS
    return member.leader !== undefined || mayBeAlone ? true : undefined
  }
  await waitFor(isReady, () => {
    const cause = causeOf(member.obstacle)
    if (role === 'follower') return `The cluster ${name} has no leader,`
    if (cause === undefined) return `Another node leads the cluster ${name},`
    return `This node could not begin to lead the cluster ${name} (${cause instanceof Error ? cause.message : cause}),`
  })
}
