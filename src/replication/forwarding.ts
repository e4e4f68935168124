/** Calls of this node that another one answers: the leader, or the owner of a filter. */
import { callNode, NoSuchNodeError, type RemoteReply } from './calls.ts'
import type { Link } from './link.ts'
import type { Member } from './member.ts'
import type { Reading } from './messages.ts'
import type { ClusterFigures, RemoteCall } from './model.ts'
import type { Names } from './names.ts'
import { tryAgain } from './refusals.ts'

interface Parts {
  readonly link: Link
  readonly names: Names
  /** Of this node. */
  readonly id: string
  readonly member: Member
  /** `performance.now()` of another node, where it is known. */
  readonly clockOf: (node: string) => number | undefined
  readonly reading: Reading
}

/** Between two checks for an announcement of the leader, and the longest wait for one, milliseconds. */
const LOOK_MS = 20
const CLOCK_MS = 2_000
/** Longest wait for what a call has changed to arrive here, milliseconds. */
const CATCH_UP_MS = 5_000

/** Forwards calls to other nodes. */
export interface Forwarding {
  /**
   * Sends a call to a node, the leader unless one is named, and waits until this node has applied what the call
   * changed. Throws what the call throws, and `overloaded` when no answer comes; `undefined` when a named node is gone.
   * `isGone` tells whether the caller has gone.
   */
  call(
    call: RemoteCall,
    isGone: () => boolean,
    node?: string,
  ): Promise<{ readonly result: unknown } | undefined>
  readonly figures: Pick<ClusterFigures, 'forwarded' | 'unanswered'>
}

/** Forwards calls of this node. */
export function createForwarding({ link, names, id, member, clockOf, reading }: Parts): Forwarding {
  const figures = { forwarded: 0, unanswered: 0 }

  /** The clock of the leader, by which a call that the network holds back does not begin after its time. */
  async function clockOfLeader(leader: string): Promise<number> {
    const until = performance.now() + CLOCK_MS
    for (;;) {
      const clock = clockOf(leader)
      if (clock !== undefined) return clock
      if (performance.now() >= until) {
        throw tryAgain('The leader of the cluster has not announced itself: the call was not made')
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  return {
    figures,
    async call(request, isGone, node) {
      const target = node ?? member.leader
      if (!link.isUp) throw tryAgain('The cluster cannot be reached')
      if (target === undefined || target === id) throw tryAgain('The cluster has no leader at the moment')
      if (node === undefined && !member.isCurrent) {
        throw tryAgain('This node has lost touch with the log of the cluster: the call was not made')
      }
      const clock = node === undefined ? await clockOfLeader(target) : clockOf(target)
      const expiresAt = clock && clock + request.timeoutMs
      figures.forwarded++
      let reply: RemoteReply | undefined
      try {
        const signal = node === undefined ? member.termSignal() : undefined
        const call = { ...request, expiresAt }
        reply = await callNode(link, names, target, call, { reading, isGone, signal })
      } catch (error) {
        if (!(error instanceof NoSuchNodeError)) throw error
        if (node !== undefined) return undefined
        throw tryAgain('The leader of the cluster has ended: the call had no effect')
      }
      if (reply === undefined) {
        figures.unanswered++
        throw tryAgain('The node that has to answer this call did not: look for the effect of the call')
      }
      // What the call changed is visible here before its caller gets the answer.
      if (node === undefined) await member.reached(reply.sequence, CATCH_UP_MS)
      if (reply.error !== undefined) throw reply.error
      return { result: reply.result }
    },
  }
}
