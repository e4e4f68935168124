/** The dispatcher of a node: which methods are open, and what they work with. */
import { ChaosSwitch } from '../chaos/switch.ts'
import { toHex } from '../encoding/hex.ts'
import type { EngineHolder } from '../engine/engine-holder.ts'
import { createForkAnew } from '../engine/fork/open-upstream.ts'
import type { ResolvedNodeOptions } from '../options/options.ts'
import type { Cluster, Joining } from '../replication/cluster.ts'
import { createRoute, withNodeId } from '../rpc/cluster-routes.ts'
import { createDispatcher, type Dispatcher } from '../rpc/dispatcher.ts'
import type { AnyMethod } from '../rpc/method.ts'
import { namesOf as namesOfMethod, namespaceRules } from '../rpc/method-names.ts'
import { METHODS } from '../rpc/methods/index.ts'
import { createPermissions } from '../rpc/permissions.ts'
import { methodsOpenIn } from '../rpc/profiles.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import type { Store } from '../store/level.ts'
import type { ChainOpener, NodeParts } from './chain-opener.ts'
import type { Shared, Start } from './origin.ts'
import { clientVersion, VERSION } from './parts.ts'

/** What a copy of a node begins with, and the store that it owns. */
export type CopyStart = Start & { readonly store: Store; readonly shared?: Shared | undefined }

/** A node whose chain is open. */
export interface Opened {
  readonly parts: NodeParts
  readonly chains: ChainOpener
  readonly holder: EngineHolder
  /** Present in a node of a cluster. */
  readonly joining: Joining | undefined
}

/** Makes the dispatcher of an open chain; `clusterOf` returns its cluster once it has joined one. */
export function dispatcherOf(
  { parts, chains, holder, joining }: Opened,
  from: CopyStart | undefined,
  clusterOf: () => Cluster | undefined,
): Dispatcher {
  const { options, logger, random, now } = parts
  const start = async (remote: RemoteChain | undefined) => (await chains.open(remote)).engine
  // A chain in which another node has a part is not replaced.
  const isShared = from !== undefined || joining !== undefined || options.bitcoin
  const permits = permissionsOf(options)
  return createDispatcher({
    methods: METHODS,
    node: holder,
    chaos: new ChaosSwitch({
      node: holder,
      logger,
      isOpen: openNames(permits),
      startTimer: options.intervalTimer,
      newSeed: () => options.seed ?? toHex(random('instance', 8)),
      refusal:
        joining && 'A node of a cluster cannot have chaos: its chain is that of all nodes of the cluster.',
    }),
    forkAnew: isShared
      ? undefined
      : createForkAnew({ holder, options, logger, start, observe: parts.telemetry?.upstream }),
    options: {
      ...options,
      release: VERSION,
      beganAsFork: holder.engine.fork !== undefined,
      clientVersion: options.clientVersion ?? clientVersion(options),
    },
    permits,
    observer: parts.telemetry?.calls,
    logger,
    peg: chains.peg,
    random: joining === undefined ? random : withNodeId(random, joining.id),
    route: joining && createRoute(clusterOf, options.dialect, parts.telemetry?.calls),
    position: joining && clusterOf,
    elapsed: options.now || options.frozenClock !== false ? () => now() * 1000 : undefined,
    onCall: options.onCall,
    load: from?.shared?.load,
  })
}

/** Whether a name is that of an open method; asked for with chaos only. */
function openNames(permits: (method: AnyMethod) => boolean): (name: string) => boolean {
  let names: ReadonlySet<string> | undefined
  return (name) => {
    names ??= new Set(METHODS.filter(permits).flatMap(namesOfMethod))
    return names.has(name)
  }
}

/** Which methods are open by the options. */
function permissionsOf(options: ResolvedNodeOptions): (method: AnyMethod) => boolean {
  const permits = createPermissions(options.methods, methodsOpenIn(options, METHODS))
  if (options.bitcoin) return permits
  return (method) => namespaceRules(method.namespace).needsBitcoin !== true && permits(method)
}
