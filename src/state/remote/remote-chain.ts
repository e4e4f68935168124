/** Opens the chain that a fork stands on. */

import type { ExecutedBlock } from '../../chain/block.ts'
import { CHAINS, type ChainConfig } from '../../chain/config.ts'
import { counted } from '../../counted.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RemoteDeps } from '../../upstream/environment.ts'
import { RpcClient } from '../../upstream/rpc-client.ts'
import { originOf } from '../../upstream/sender.ts'
import type { RemoteSettings } from '../../upstream/settings.ts'
import { RecentMap } from '../recent-map.ts'
import { type Asker, createAsker } from './asker.ts'
import { type BlockCache, RemoteCache } from './cache/block-cache.ts'
import { cacheScope, listCache } from './cache/cache-directory.ts'
import { type Capabilities, canonicalCall, probeCalls, readProbe } from './capabilities.ts'
import { type BlockParts, ChainBlocks } from './chain-blocks.ts'
import { ChainLogs } from './chain-logs.ts'
import {
  askPoint,
  type FoundPoint,
  findOffline,
  findOnline,
  POINT_KEY,
  PointRecord,
  transactionKey,
} from './fork-point.ts'
import type {
  ForkPoint,
  RemoteBlockId,
  RemoteChain,
  RemoteHeader,
  RemoteLocation,
  RemoteLog,
  RemoteLogQuery,
  RemoteState,
  RemoteUsage,
  Upstream,
} from './model.ts'
import { untriedHints } from './remote-call.ts'
import { FetchedState, type StateParts } from './remote-state.ts'
import { Verification } from './verification.ts'
import { readAnswer, WireHeader } from './wire.ts'

/** States of blocks that are kept. */
const KEPT_STATES = 64

/** The network of a chain id; any other id has the rules of the local network. */
function configOf(chainId: number): ChainConfig {
  const known = Object.values(CHAINS).find((config) => config.chainId === chainId)
  return known ?? { ...CHAINS.regtest, chainId }
}

/** How the upstream is asked: as noted at an earlier fork of this block from this URL, or as it answers now. */
async function capabilitiesOf(
  { point, client, isSameFamily }: FoundPoint,
  asker: Asker,
  cache: BlockCache,
): Promise<Capabilities> {
  const known = PointRecord.safeParse(cache.memory.answer(POINT_KEY)?.value)
  if (known.success && (asker.isOffline || known.data.origin === asker.origin()))
    return known.data.capabilities
  const outcomes = await asker.send(probeCalls(point), `the state of block ${point.number}`)
  const capabilities = readProbe(point, outcomes, asker.origin())
  const record: PointRecord = { origin: asker.origin(), client, isSameFamily, capabilities }
  cache.put([{ kind: 'answer', key: POINT_KEY, value: record }])
  return capabilities
}

async function headOf(blocks: ChainBlocks, { point }: FoundPoint, origin: string) {
  const head = await blocks.byHash(point.hash)
  if (head !== undefined) return head
  throw new NodeError(
    'upstream',
    `The upstream ${origin} no longer has block ${point.hash}. Fork again, from a block further below the tip.`,
  )
}

/** The block of the transaction that the fork was chosen by, which is above the fork point. */
async function transactionOf({ point, transaction }: FoundPoint, parts: BlockParts) {
  if (transaction === undefined) return undefined
  const { hash, blockHash, blockNumber, index } = transaction
  const above = new ChainBlocks({ ...parts, point: { ...point, number: blockNumber, hash: blockHash } })
  const block = await above.byHash(blockHash)
  if (block?.block.transactions[index]?.hash !== hash || block.block.header.parentHash !== point.hash) {
    throw new NodeError(
      'upstream',
      `The upstream ${parts.asker.origin()} has no transaction ${hash} at index ${index} of block ${blockHash}. Try again.`,
    )
  }
  parts.cache.put([{ kind: 'answer', key: transactionKey(hash), value: transaction }])
  return { block, index }
}

/** The older format does not name the upstream of its answers, so they may be those of any. */
async function noteOldFormat(
  root: string,
  chainId: number,
  notice: (message: string) => void,
): Promise<void> {
  const old = (await listCache(root, chainId)).filter(({ scope }) => scope === undefined)
  if (old.length === 0) return
  notice(
    `The cache in ${root} has ${counted(old.length, 'block')} of an older format, which does not name the upstream. Nothing of that format is read; tandem fork clear removes it.`,
  )
}

/** What an open chain consists of. */
interface ChainParts {
  readonly settings: RemoteSettings
  readonly client: RpcClient
  readonly found: FoundPoint
  readonly asker: Asker
  readonly cache: RemoteCache
  readonly blocks: ChainBlocks
  readonly logs: ChainLogs
  readonly states: StateParts
  readonly head: ExecutedBlock
  readonly transaction: RemoteChain['transaction']
}

class OpenChain implements RemoteChain {
  readonly point: ForkPoint
  readonly upstream: Upstream
  readonly config: ChainConfig
  readonly head: ExecutedBlock
  readonly transaction?: { readonly block: ExecutedBlock; readonly index: number }
  readonly #parts: ChainParts
  readonly #headState: RemoteState
  readonly #states = new RecentMap<Hex, RemoteState>(KEPT_STATES)
  #urls: readonly string[]

  constructor(parts: ChainParts) {
    const { found, client, states, head, transaction, settings } = parts
    this.point = found.point
    this.upstream = { origin: client.origin(), client: found.client, isSameFamily: found.isSameFamily }
    this.config = states.config
    this.head = head
    if (transaction !== undefined) this.transaction = transaction
    this.#parts = parts
    this.#headState = new FetchedState(found.point, states)
    this.#urls = settings.urls
  }

  stateAt(block: RemoteBlockId): RemoteState {
    if (block.hash === this.point.hash) return this.#headState
    let state = this.#states.get(block.hash)
    if (state === undefined) {
      state = new FetchedState(block, this.#parts.states)
      this.#states.set(block.hash, state)
    }
    return state
  }

  knownHash(number: number): Hex | undefined {
    return this.#parts.blocks.headers.knownHash(number)
  }

  headerByNumber(number: number): Promise<RemoteHeader | undefined> {
    return this.#parts.blocks.headers.byNumber(number)
  }

  headerByHash(hash: Hex): Promise<RemoteHeader | undefined> {
    return this.#parts.blocks.headers.byHash(hash)
  }

  blockByHash(hash: Hex): Promise<ExecutedBlock | undefined> {
    return this.#parts.blocks.byHash(hash)
  }

  blockByNumber(number: number): Promise<ExecutedBlock | undefined> {
    return this.#parts.blocks.byNumber(number)
  }

  transactionLocation(hash: Hex): Promise<RemoteLocation | undefined> {
    return this.#parts.blocks.locationOf(hash)
  }

  logs(query: RemoteLogQuery): Promise<readonly RemoteLog[]> {
    return this.#parts.logs.query(query)
  }

  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    const { asker } = this.#parts
    const [outcome] = await asker.send([{ method, params }], `the answer to ${method}`)
    if (outcome !== undefined && 'result' in outcome) return outcome.result
    throw new NodeError(
      'upstream',
      `The upstream ${asker.origin()} refused ${method}: ${outcome?.error.message}`,
    )
  }

  async isPointCanonical(): Promise<boolean> {
    const { asker } = this.#parts
    if (asker.isOffline) return true
    const { number, hash } = this.point
    const call = canonicalCall(number)
    const [outcome] = await asker.send([call], `block ${number}`)
    if (outcome === undefined || 'error' in outcome || outcome.result === null) return false
    return readAnswer(WireHeader, outcome.result, call.method, asker.origin()).hash === hash
  }

  async setUrls(urls: readonly string[]): Promise<void> {
    const { asker, cache, settings } = this.#parts
    if (!asker.isOffline) await this.#askAt(urls)
    this.#urls = urls
    if (cacheScope(urls.map(originOf)) !== cacheScope(settings.urls.map(originOf)))
      cache.stop('it belongs to another URL than the present one')
  }

  waitLimit(): number {
    return this.#parts.client.waitLimit()
  }

  delay(): NodeError | undefined {
    return this.#parts.client.delay()
  }

  usage(): RemoteUsage {
    const { client, asker, settings } = this.#parts
    return {
      ...client.counts,
      callsToday: client.callsToday(),
      callsPerDay: settings.callsPerDay,
      cacheHits: asker.counts.hits,
      cacheMisses: asker.counts.misses,
    }
  }

  async close(): Promise<void> {
    this.#parts.client.close()
    await this.#parts.cache.close()
  }

  /** Asks these URLs for the fork point. Throws `upstream` where they do not have it, and stays at the former ones. */
  async #askAt(urls: readonly string[]): Promise<void> {
    const { client, settings, states } = this.#parts
    const { point } = this
    client.setUrls(urls)
    try {
      const found = await askPoint(client, point, settings.isVerified)
      if (found?.chainId === point.chainId) {
        if (found.proof !== undefined) await states.verification.open(found.proof)
        return
      }
      const problem =
        found === undefined
          ? `does not have block ${point.number} (${point.hash})`
          : `is of chain id ${found.chainId}, not ${point.chainId}`
      throw new NodeError(
        'upstream',
        `The upstream ${client.origin()} ${problem}, which this fork stands on. The former URL stays; fork again with anvil_reset.`,
      )
    } catch (error) {
      client.setUrls(this.#urls)
      throw error
    }
  }
}

/** The cache of the fork's chain; in memory alone where the settings name no folder. */
async function openCache(
  { cacheDir, cacheBytes, urls }: RemoteSettings,
  deps: RemoteDeps,
  chainId: number,
): Promise<RemoteCache> {
  if (cacheDir === undefined) return new RemoteCache(undefined, deps)
  await noteOldFormat(cacheDir, chainId, deps.notice)
  const scope = cacheScope(urls.map(originOf))
  return new RemoteCache({ root: cacheDir, chainId, scope, bytes: cacheBytes }, deps)
}

/** Reads the block of the fork point, and what else a chain has from the beginning. */
async function openChain(
  settings: RemoteSettings,
  { notice }: RemoteDeps,
  client: RpcClient,
  found: FoundPoint,
  cache: RemoteCache,
): Promise<RemoteChain> {
  const { point, isSameFamily } = found
  const pointCache = await cache.block(point)
  const asker = createAsker(client, settings.isOffline)
  const capabilities = await capabilitiesOf(found, asker, pointCache)
  const shared = { point, asker, config: configOf(point.chainId), capabilities, isSameFamily, notice }
  const blockParts: BlockParts = { ...shared, cache: pointCache }
  const blocks = new ChainBlocks(blockParts)
  const head = await headOf(blocks, found, asker.origin())
  const transaction = await transactionOf(found, blockParts)
  const headerByHash = (hash: Hex) => blocks.headers.byHash(hash)
  const verification = new Verification({ ...shared, headerByHash })
  if (found.proof !== undefined) await verification.open(found.proof)
  if (settings.answerMs !== undefined) client.limit(settings.answerMs)
  return new OpenChain({
    settings,
    client,
    found,
    asker,
    cache,
    blocks,
    logs: new ChainLogs({ point, asker, cache: pointCache, blocks }),
    states: { asker, cache, config: shared.config, capabilities, hints: untriedHints(), verification },
    head,
    transaction,
  })
}

/**
 * Finds the fork point, checks that its state is served, and reads its block: three requests, one where the cache knows the
 * block, none offline. Throws `upstream` with a sentence on what is wrong and what to try.
 */
export async function openRemoteChain(settings: RemoteSettings, deps: RemoteDeps): Promise<RemoteChain> {
  const client = new RpcClient(settings, deps)
  let cache: RemoteCache | undefined
  try {
    const found = settings.isOffline ? await findOffline(settings) : await findOnline(client, settings)
    cache = await openCache(settings, deps, found.point.chainId)
    return await openChain(settings, deps, client, found, cache)
  } catch (error) {
    client.close()
    await cache?.close()
    throw error
  }
}
