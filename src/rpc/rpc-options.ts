/** The settings that methods and dispatcher read. */
import type { ResolvedNodeOptions } from '../options/options.ts'

/** Limits: milliseconds, bytes, counts; 0 is no limit. */
export interface RpcOptions
  extends Pick<
    ResolvedNodeOptions,
    | 'profile'
    | 'preset'
    | 'dialect'
    | 'hideRemasc'
    | 'singleUseSnapshots'
    | 'stateOverride'
    | 'minedReverts'
    | 'stackTraces'
    | 'order'
    | 'maxBatch'
    | 'rpcTimeoutMs'
    | 'maxResponseBytes'
    | 'maxLogBlocks'
    | 'maxLogs'
    | 'filterTimeoutMs'
    | 'maxFilters'
    | 'maxSubscriptions'
    | 'maxTraces'
    | 'maxTraceBlocks'
    | 'maxTraceBytes'
    | 'maxTraceAnswer'
    | 'methodTimeouts'
    | 'maxDepth'
    | 'maxPending'
    | 'maxHeavy'
    | 'maxHeavyWaiting'
    | 'forkAllow'
  > {
  /** What `web3_clientVersion` answers. */
  readonly clientVersion: string
  /** Version of this software. */
  readonly release: string
  /** Was the first chain of the node a fork? */
  readonly beganAsFork: boolean
}
