/** Types that the parts of replication and its users share. */
import type { NodeError } from '../errors.ts'

/** `auto` leads while it holds the lease; `leader` does the same, and starts only when it leads; `follower` never leads. */
export type RoleOption = 'auto' | 'leader' | 'follower'

/** What a node is at the moment. */
export type Role = 'leader' | 'follower'

/** The state of a node in its cluster. */
export interface ClusterHealth {
  readonly id: string
  readonly role: Role
  readonly term: number
  /** Seconds since the node last had all that the leader had announced; for the leader, since it renewed its lease. */
  readonly lag: number
  /** Is the lag above the limit? */
  readonly isLate: boolean
  readonly figures: ClusterFigures
}

/** Counts since the start of the node. */
export interface ClusterFigures {
  /** Times that this node became the leader. */
  elections: number
  /** Calls that this node sent to others, and those that failed since no answer came. */
  forwarded: number
  unanswered: number
}

/** A call of a method that another node answers. */
export interface RemoteCall {
  readonly method: string
  readonly params: unknown
  /** Name of the caller's key. */
  readonly owner: string
  /** Label and id of the request, for logs. */
  readonly label: string
  readonly requestId?: string | undefined
  readonly entitlements: readonly string[]
  /** Milliseconds that it may take. */
  readonly timeoutMs: number
  /**
   * `performance.now()` of the node that answers, beyond which it does not begin: the network may hold a request back
   * until its caller has been refused. Absent where that clock is not known.
   */
  readonly expiresAt?: number | undefined
}

/** Answers a call of another node; rejects with the `NodeError` that the caller gets. */
export type AnswerCall = (call: RemoteCall) => Promise<unknown>

/** An error that a call of another node is answered with. */
export type RemoteError = Pick<NodeError, 'kind' | 'message'>
