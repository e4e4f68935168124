/** Types that the parts of replication and its users share. */
import type { z } from 'zod'
import type { CallMessage } from './messages.ts'

/** `auto` leads while it holds the lease; `leader` does the same, and starts only when it leads; `follower` never leads. */
export type RoleOption = 'auto' | 'leader' | 'follower'

/** The present role of a node. */
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
export type RemoteCall = z.infer<typeof CallMessage>

/** Answers a call of another node, whose signal aborts when the caller has gone; rejects with the `NodeError` that it gets. */
export type AnswerCall = (call: RemoteCall, signal: AbortSignal) => Promise<unknown>
