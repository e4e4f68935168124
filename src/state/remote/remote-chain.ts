/** Opens the chain that a fork stands on. */

import { CHAINS, type ChainConfig } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RemoteDeps } from '../../upstream/environment.ts'
import { RpcClient } from '../../upstream/rpc-client.ts'
import { originOf } from '../../upstream/sender.ts'
import type { RemoteSettings } from '../../upstream/settings.ts'
import { RecentMap } from '../recent-map.ts'
import { type Asker, createAsker } from './asker.ts'
import { type BlockCache, createRemoteCache, type RemoteCache } from './cache/block-cache.ts'
import { cacheScope, listCache } from './cache/cache-directory.ts'
import { type Capabilities, canonicalCall, probeCalls, readProbe } from './capabilities.ts'
import { type BlockParts, type ChainBlocks, createChainBlocks } from './chain-blocks.ts'
import { createChainLogs } from './chain-logs.ts'
import {
  askPoint,
  type FoundPoint,
  findOffline,
  findOnline,
  POINT_KEY,
  PointRecord,
  transactionKey,
} from './fork-point.ts'
import type { ForkPoint, RemoteChain, RemoteState } from './model.ts'
import { untriedHints } from './remote-call.ts'
import { createRemoteState, type StateParts } from './remote-state.ts'
import { createVerification, type Verification } from './verification.ts'
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
  const head = await blocks.blockByHash(point.hash)
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
  const above = createChainBlocks({ ...parts, point: { ...point, number: blockNumber, hash: blockHash } })
  const block = await above.blockByHash(blockHash)
  if (block?.block.transactions[index]?.hash !== hash || block.block.header.parentHash !== point.hash) {
    throw new NodeError(
      'upstream',
      `The upstream ${parts.asker.origin()} has no transaction ${hash} at index ${index} of block ${blockHash}. Try again.`,
    )
  }
  parts.cache.put([{ kind: 'answer', key: transactionKey(hash), value: transaction }])
  return { block, index }
}

/** Answers that were kept without the URL that they came from may be those of any upstream. */
async function noteOldFormat(
  root: string,
  chainId: number,
  notice: (message: string) => void,
): Promise<void> {
  const old = (await listCache(root, chainId)).filter(({ scope }) => scope === undefined)
  if (old.length === 0) return
  notice(
    `The cache in ${root} has ${old.length} blocks of an older format, which does not tell who answered. They are not read; tandem fork clear removes them.`,
  )
}

async function replaceUrls(
  client: RpcClient,
  current: readonly string[],
  urls: readonly string[],
  point: ForkPoint,
  verification: Verification | undefined,
): Promise<void> {
  client.setUrls(urls)
  try {
    const found = await askPoint(client, point, verification !== undefined)
    if (found?.chainId === point.chainId) {
      if (found.proof !== undefined) await verification?.open(found.proof)
      return
    }
    const problem =
      found === undefined
        ? `does not have block ${point.number} (${point.hash})`
        : `is of chain id ${found.chainId}, not ${point.chainId}`
    throw new NodeError(
      'upstream',
      `The upstream ${client.origin()} ${problem}, which this fork stands on. The former URL stays; fork anew with anvil_reset.`,
    )
  } catch (error) {
    client.setUrls(current)
    throw error
  }
}

async function build(
  settings: RemoteSettings,
  deps: RemoteDeps,
  client: RpcClient,
  onCache: (cache: RemoteCache) => void,
): Promise<RemoteChain> {
  const { isOffline, cacheDir, cacheBytes } = settings
  const found = isOffline ? await findOffline(settings) : await findOnline(client, settings)
  const { point, isSameFamily } = found
  const scope = cacheScope(settings.urls.map(originOf))
  const limits =
    cacheDir === undefined ? undefined : { root: cacheDir, chainId: point.chainId, scope, bytes: cacheBytes }
  if (limits !== undefined) await noteOldFormat(limits.root, point.chainId, deps.notice)
  const cache = createRemoteCache(limits, deps)
  onCache(cache)
  const own = await cache.block(point)
  const asker = createAsker(client, isOffline)
  const config = configOf(point.chainId)
  const capabilities = await capabilitiesOf(found, asker, own)
  const { notice } = deps
  const blockParts: BlockParts = { point, asker, cache: own, config, capabilities, isSameFamily, notice }
  const blocks = createChainBlocks(blockParts)
  const head = await headOf(blocks, found, asker.origin())
  const transaction = await transactionOf(found, blockParts)
  const { headerByHash } = blocks
  const verification = createVerification({
    point,
    asker,
    config,
    capabilities,
    isSameFamily,
    headerByHash,
    notice,
  })
  if (found.proof !== undefined) await verification.open(found.proof)
  const stateParts: StateParts = {
    asker,
    cache,
    config,
    capabilities,
    hints: untriedHints(),
    verification,
  }
  const states = new RecentMap<Hex, RemoteState>(KEPT_STATES)
  const headState = createRemoteState(point, stateParts)
  let urls = settings.urls
  if (settings.answerMs !== undefined) client.limit(settings.answerMs)

  return {
    point,
    upstream: { origin: client.origin(), client: found.client, isSameFamily },
    config,
    head,
    ...(transaction !== undefined && { transaction }),
    stateAt(block) {
      if (block.hash === point.hash) return headState
      let state = states.get(block.hash)
      if (state === undefined) {
        state = createRemoteState(block, stateParts)
        states.set(block.hash, state)
      }
      return state
    },
    ...blocks,
    logs: createChainLogs({ point, asker, cache: own, blocks }),
    async request(method, params) {
      const [outcome] = await asker.send([{ method, params }], `the answer to ${method}`)
      if (outcome !== undefined && 'result' in outcome) return outcome.result
      throw new NodeError(
        'upstream',
        `The upstream ${asker.origin()} refused ${method}: ${outcome?.error.message}`,
      )
    },
    async isPointCanonical() {
      if (isOffline) return true
      const call = canonicalCall(point.number)
      const [outcome] = await asker.send([call], `block ${point.number}`)
      if (outcome === undefined || 'error' in outcome || outcome.result === null) return false
      return readAnswer(WireHeader, outcome.result, call.method, asker.origin()).hash === point.hash
    },
    async setUrls(next) {
      if (!isOffline)
        await replaceUrls(client, urls, next, point, settings.isVerified ? verification : undefined)
      urls = next
      if (cacheScope(next.map(originOf)) !== scope)
        cache.stop('it belongs to another URL than the present one')
    },
    waitLimit: () => client.waitLimit(),
    delay: () => client.delay(),
    usage: () => ({
      ...client.counts,
      callsToday: client.callsToday(),
      callsPerDay: settings.callsPerDay,
      cacheHits: asker.counts.hits,
      cacheMisses: asker.counts.misses,
    }),
    async close() {
      client.close()
      await cache.close()
    },
  }
}

/**
 * Finds the fork point, checks that its state is served, and reads its block: three requests, one where the cache knows the
 * block, none offline. Throws `upstream` with a sentence on what is wrong and what to try.
 */
export async function openRemoteChain(settings: RemoteSettings, deps: RemoteDeps): Promise<RemoteChain> {
  const client = new RpcClient(settings, deps)
  let cache: RemoteCache | undefined
  try {
    return await build(settings, deps, client, (opened) => {
      cache = opened
    })
  } catch (error) {
    client.close()
    await cache?.close()
    throw error
  }
}
