/** Answers calls that other nodes of a cluster pass on. */
import { NodeError } from '../errors.ts'
import type { AnswerCall } from '../replication/model.ts'
import type { CallObserver } from './call-observer.ts'
import { needsLeader } from './cluster-routes.ts'
import type { Dispatcher } from './dispatcher.ts'
import { methodsByName } from './method-table.ts'

/** Answers calls of other nodes to methods that may be passed on; the other nodes have checked the caller's permissions. */
export function createAnswer(dispatcher: Dispatcher, observer?: CallObserver): AnswerCall {
  const known = methodsByName(dispatcher.methods)
  return ({ method: name, params, owner, label, requestId, entitlements, carrier, timeoutMs }, signal) => {
    const method = known.get(name)
    if (method !== undefined && method.answeredBy !== 'owner' && !needsLeader(method, params)) {
      throw new NodeError('method-not-found', `${name} is not called from one node of a cluster to another`)
    }
    const session = {
      label: `${label}, of another node`,
      owner,
      requestId,
      entitlements: new Set(entitlements),
      allows: () => true,
    }
    const run = () => dispatcher.request(name, params, session, { signal, deadline: Date.now() + timeoutMs })
    if (observer === undefined) return run()
    return observer.message({ ...session, label: 'cluster', ...(carrier && { carrier }) }, run)
  }
}
