/** Opens the upstream that the options of a node name, and replaces the chain of a running node by a fork. */

import { invalidParams } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { forkSource } from '../../options/fork-settings.ts'
import type { ResolvedNodeOptions } from '../../options/options.ts'
import type { RemoteChain } from '../../state/remote/model.ts'
import { readForkedBlock } from '../../store/identity.ts'
import type { SenderObserver } from '../../upstream/environment.ts'
import type { Call } from '../call.ts'
import type { Engine, ForkChoice } from '../engine.ts'
import type { EngineHolder } from '../engine-holder.ts'

/** What an upstream is opened with beside the options. */
interface UpstreamParts {
  /** The options that the node was started with, where a caller named another URL. */
  readonly operator?: ResolvedNodeOptions
  /** Observes what is sent; absent where nothing does. */
  readonly observe?: SenderObserver | undefined
}

/**
 * The upstream that the options name, `undefined` where they name none. Throws `upstream` and `invalid-options`.
 */
export async function openUpstream(
  options: ResolvedNodeOptions,
  logger: Logger,
  { operator = options, observe }: UpstreamParts = {},
): Promise<RemoteChain | undefined> {
  if (options.fork === undefined) return undefined
  // A node without a fork never loads the client of an upstream.
  const [{ openRemoteChain }, { remoteSettingsOf }, { systemDeps }] = await Promise.all([
    import('../../state/remote/remote-chain.ts'),
    import('../../upstream/settings.ts'),
    import('../../upstream/environment.ts'),
  ])
  const found = remoteSettingsOf(options, process.env, operator)
  if (found === undefined) return undefined
  const settings = { ...found, ...answerTime(options) }
  const { dataDir } = options
  const isOpen = settings.block === undefined && settings.transaction === undefined
  // A database that holds a fork is opened with the block of that fork, unless the options name another block.
  const known = isOpen && dataDir !== undefined ? await readForkedBlock(dataDir) : undefined
  const remote = await openRemoteChain(
    known === undefined ? settings : { ...settings, block: { hash: known.hash } },
    systemDeps((message) => logger.warn(message), observe),
  )
  const { origin, client, isSameFamily } = remote.upstream
  if (settings.isOffline && isOpen && known === undefined) {
    const { number, hash, chainId } = remote.point
    logger.info(
      `offline, the fork continues from block ${number} (${hash}) of chain id ${chainId}, which the cache has`,
    )
  }
  if (!isSameFamily) {
    logger.warn(
      `the upstream ${origin} (${client}) is of another family: gas, opcodes and precompiled contracts here are this chain's`,
    )
  }
  return remote
}

/** Share of a request's time limit in which the upstream has to answer, so that there is time to report why it did not. */
const ANSWER_SHARE = 0.8

/** Time limit of the upstream for an answer that a request waits for. */
function answerTime({ rpcTimeoutMs, forkTimeoutMs }: ResolvedNodeOptions): { answerMs?: number } {
  if (rpcTimeoutMs === 0) return {}
  return { answerMs: Math.max(1, Math.min(forkTimeoutMs, Math.floor(rpcTimeoutMs * ANSWER_SHARE))) }
}

/** What replacing the chain of a node needs. */
interface Parts {
  readonly holder: EngineHolder
  readonly options: ResolvedNodeOptions
  readonly logger: Logger
  /** Creates an engine on the upstream, with a store of its own. */
  readonly start: (remote: RemoteChain | undefined) => Promise<Engine>
  readonly observe?: SenderObserver | undefined
}

/**
 * Replaces the chain of a node by a fork of another block or another chain, or by one of its own. Throws `upstream`, `invalid-params`,
 * `cancelled`; the chain is then unchanged.
 */
export type ForkAnew = (choice: ForkChoice | 'none', call: Call) => Promise<void>

/** Makes the function that replaces the chain of a node. */
export function createForkAnew({ holder, options, logger, start, observe }: Parts): ForkAnew {
  return async (choice, call) => {
    if (choice === 'none') return holder.replace(() => start(undefined), call)
    const { url, block } = choice
    if (options.dataDir !== undefined) {
      throw invalidParams(
        'forking: a node with a data directory keeps the chain in it; start a node without one to fork at run time',
      )
    }
    const fork = url === undefined ? forkSource(options)?.urls : [url]
    if (fork === undefined)
      throw invalidParams('forking.jsonRpcUrl: this node has no upstream yet, so name one')
    const wanted = { ...options, fork, forkBlock: block ?? 'latest', forkTransactionHash: undefined }
    await holder.replace(async () => {
      const remote = await openUpstream(wanted, logger, { operator: options, observe })
      return start(remote).catch(async (error) => {
        await remote?.close()
        throw error
      })
    }, call)
  }
}
