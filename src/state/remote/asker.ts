/** Calls to the upstream through the cache of a block, which answers known calls and keeps the results of new ones. */
import { NodeError } from '../../errors.ts'
import type { RpcCall, RpcFailure, RpcOutcome } from '../../upstream/replies.ts'
import type { RpcClient } from '../../upstream/rpc-client.ts'
import type { BlockCache } from './cache/block-cache.ts'

/** Items that the cache had, and those that had to be fetched. */
export interface CacheCounts {
  hits: number
  misses: number
}

/** Asks the upstream, or only the cache when the fork is offline. */
export interface Asker {
  readonly isOffline: boolean
  readonly counts: CacheCounts
  /** For error messages. */
  origin(): string
  /** The outcomes of calls, without the cache. Throws a NodeError when the upstream cannot be asked; offline, it names `what`. */
  send(calls: readonly RpcCall[], what: string): Promise<readonly RpcOutcome[]>
  /** The same for calls whose results never change after the block of the cache; results of null and errors are not kept. */
  sendCached(calls: readonly RpcCall[], cache: BlockCache, what: string): Promise<readonly RpcOutcome[]>
}

/** The key of a call in the cache. */
export function keyOf({ method, params }: RpcCall): string {
  return `${method} ${JSON.stringify(params)}`
}

/** The error for something that is not in the cache of an offline fork. */
export function missingOffline(what: string): NodeError {
  return new NodeError(
    'upstream',
    `Offline, and the cache does not have ${what}. Run once without --fork-offline, fetch it ahead with tandem fork warm, or import a cache that has it.`,
  )
}

/** Does the error mean that the node does not serve the method? */
export function isUnserved({ code, message }: RpcFailure): boolean {
  return (
    code === -32601 ||
    code === -32604 ||
    /method .*(not found|not (supported|available|allowed|enabled)|disabled|does not exist)|unsupported method|not whitelisted/i.test(
      message,
    )
  )
}

/** Puts the cache in front of a client. */
export function createAsker(client: RpcClient, isOffline: boolean): Asker {
  const counts: CacheCounts = { hits: 0, misses: 0 }

  async function send(calls: readonly RpcCall[], what: string): Promise<readonly RpcOutcome[]> {
    if (calls.length === 0) return []
    if (isOffline) throw missingOffline(what)
    return client.send(calls)
  }

  return {
    isOffline,
    counts,
    origin: () => client.origin(),
    send,
    async sendCached(calls, cache, what) {
      const known = calls.map((call) => cache.memory.answer(keyOf(call)))
      const missing = calls.filter((_, index) => known[index] === undefined)
      counts.hits += calls.length - missing.length
      counts.misses += missing.length
      const fetched = await send(missing, what)
      let next = 0
      return calls.map((call, index) => {
        const hit = known[index]
        if (hit !== undefined) return { result: hit.value }
        const outcome = fetched[next++] as RpcOutcome
        if ('result' in outcome && outcome.result !== null) {
          cache.put([{ kind: 'answer', key: keyOf(call), value: outcome.result }])
        }
        return outcome
      })
    },
  }
}
