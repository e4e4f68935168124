/** Calls of this node that another one answers: the leader, or the owner of a filter. */
import { callNode, NoSuchNodeError, type RemoteReply } from './calls.ts'
import type { Link } from './link.ts'
import { type Member, tryAgain } from './member.ts'
import type { ClusterFigures, RemoteCall } from './model.ts'
import type { Names } from './names.ts'

interface Parts {
  readonly link: Link
  readonly names: Names
  /** Of this node. */
  readonly id: string
  readonly member: Member
  /** `performance.now()` of another node, where it is known. */
  readonly clockOf: (node: string) => number | undefined
}

/** Passes calls on. */
export interface Forwarding {
  /**
   * Has a node answer a call, the leader unless one is named, and waits until this node has applied what the call
   * changed. Throws what the call throws, and `overloaded` when no answer comes; `undefined` when a named node is gone.
   */
  call(call: RemoteCall, node?: string): Promise<{ readonly result: unknown } | undefined>
  readonly figures: Pick<ClusterFigures, 'forwarded' | 'unanswered'>
}

/** Makes what passes calls on. */
export function createForwarding({ link, names, id, member, clockOf }: Parts): Forwarding {
  const figures = { forwarded: 0, unanswered: 0 }
  return {
    figures,
    async call(request, node) {
      const target = node ?? member.leader
      if (!link.isUp) throw tryAgain('The cluster cannot be reached')
      if (target === undefined || target === id) throw tryAgain('The cluster has no leader at the moment')
      if (node === undefined && !member.isCurrent) {
        throw tryAgain('This node has lost touch with the log of the cluster: the call was not made')
      }
      const until = performance.now() + request.timeoutMs
      const clock = clockOf(target)
      const expiresAt = clock && clock + request.timeoutMs
      figures.forwarded++
      let reply: RemoteReply | undefined
      try {
        const signal = node === undefined ? member.termSignal() : undefined
        reply = await callNode(link, names, target, { ...request, expiresAt }, signal)
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
      if (node === undefined && !(await member.reached(reply.sequence, until - performance.now()))) {
        throw tryAgain('This node has not caught up with the effect of the call')
      }
      if (reply.error !== undefined) throw reply.error
      return { result: reply.result }
    },
  }
}
