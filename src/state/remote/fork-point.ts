/** Finds the block and the chain of a fork: from the upstream or, offline, from the cache. */
import { z } from 'zod'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { BlockChoice } from '../../options/fork-settings.ts'
import type { RpcCall, RpcOutcome } from '../../upstream/replies.ts'
import type { RpcClient } from '../../upstream/rpc-client.ts'
import { originOf } from '../../upstream/sender.ts'
import type { RemoteSettings } from '../../upstream/settings.ts'
import { missingOffline } from './asker.ts'
import { readCached } from './cache/block-cache.ts'
import { type CachedBlock, cacheScope, listCache } from './cache/cache-directory.ts'
import { Capabilities, proofCall } from './capabilities.ts'
import type { ForkPoint } from './model.ts'
import { Count, Hash, readAnswer, WireHeader, WireLocation } from './wire.ts'

/** The transaction that a fork was chosen by. */
export const ChosenTransaction = z.object({
  hash: Hash,
  blockNumber: z.int(),
  blockHash: Hash,
  index: z.int(),
})
export type ChosenTransaction = z.output<typeof ChosenTransaction>

/** What is kept of a fork point in its cache, so that a later start needs few requests, or none. */
export const PointRecord = z.object({
  origin: z.string(),
  client: z.string(),
  isSameFamily: z.boolean(),
  capabilities: Capabilities,
})
export type PointRecord = z.output<typeof PointRecord>

/** Keys of the cache that no call has. */
export const POINT_KEY = 'tandem point 2'
export const transactionKey = (hash: Hex): string => `tandem transaction ${hash}`

/** A fork point as it was found. */
export interface FoundPoint {
  readonly point: ForkPoint
  readonly client: string
  readonly isSameFamily: boolean
  readonly transaction?: ChosenTransaction
  /** Of `proofCall` at the fork point; absent offline, and where nothing is to be verified. */
  readonly proof?: RpcOutcome
}

function failed(message: string): NodeError {
  return new NodeError('upstream', message)
}

const LATEST: BlockChoice = { tag: 'latest' }

function blockCall(choice: BlockChoice): RpcCall {
  if ('hash' in choice) return { method: 'eth_getBlockByHash', params: [choice.hash, false] }
  const at = 'tag' in choice ? choice.tag : toQuantity(choice.number)
  return { method: 'eth_getBlockByNumber', params: [at, false] }
}

/** The call for a block, and with it one for a proof at it where state is to be verified. */
function chosenCalls(choice: BlockChoice, isVerified: boolean): RpcCall[] {
  const call = blockCall(choice)
  const at = 'hash' in choice ? { blockHash: choice.hash } : call.params[0]
  return isVerified ? [call, proofCall(at)] : [call]
}

function described(choice: BlockChoice): string {
  if ('hash' in choice) return `block ${choice.hash}`
  return 'tag' in choice ? `block "${choice.tag}"` : `block ${choice.number}`
}

function resultOf(call: RpcCall, outcome: RpcOutcome | undefined, origin: string): unknown {
  if (outcome !== undefined && 'result' in outcome) return outcome.result
  throw failed(
    `The upstream ${origin} refused ${call.method}: ${outcome?.error.message}. Is it a JSON-RPC node?`,
  )
}

const IDENTITY: readonly RpcCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_blockNumber', params: [] },
  { method: 'web3_clientVersion', params: [] },
]

interface Identity {
  readonly chainId: number
  readonly tip: number
  readonly client: string
}

function identityOf(outcomes: readonly RpcOutcome[], expected: number | undefined, origin: string): Identity {
  const [chainCall, tipCall] = IDENTITY as [RpcCall, RpcCall]
  const chainId = readAnswer(Count, resultOf(chainCall, outcomes[0], origin), chainCall.method, origin)
  const tip = readAnswer(Count, resultOf(tipCall, outcomes[1], origin), tipCall.method, origin)
  checkChainId(chainId, expected, origin)
  const version = outcomes[2]
  const client = version !== undefined && 'result' in version ? String(version.result) : ''
  return { chainId, tip, client }
}

/** Throws `upstream` for an upstream of another chain than the one that was named. */
export function checkChainId(chainId: number, expected: number | undefined, origin: string): void {
  if (expected === undefined || chainId === expected) return
  throw failed(
    `The upstream ${origin} is of chain id ${chainId}, not ${expected} as --fork-chain-id asks. Name a node of chain ${expected} with --fork, or change --fork-chain-id.`,
  )
}

/** The chain id and the block of an upstream, with a proof at it; for URLs that replace others. */
export async function askPoint(
  client: RpcClient,
  { number, hash }: ForkPoint,
  isVerified: boolean,
): Promise<(ForkPoint & Pick<FoundPoint, 'proof'>) | undefined> {
  const call = blockCall({ hash })
  const outcomes = await client.send([...IDENTITY, ...chosenCalls({ hash }, isVerified)])
  const { chainId } = identityOf(outcomes, undefined, client.origin())
  const result = resultOf(call, outcomes[3], client.origin())
  if (result === null) return undefined
  const header = readAnswer(WireHeader, result, call.method, client.origin())
  if (header.hash !== hash || header.number !== number) return undefined
  return { chainId, number, hash, ...(outcomes[4] !== undefined && { proof: outcomes[4] }) }
}

async function chosenTransaction(client: RpcClient, hash: Hex): Promise<ChosenTransaction & { parent: Hex }> {
  const call: RpcCall = { method: 'eth_getTransactionByHash', params: [hash] }
  const [outcome] = await client.send([call])
  const origin = client.origin()
  const result = resultOf(call, outcome, origin)
  const unknown = failed(
    `The upstream ${origin} has no mined transaction ${hash}. Check --fork-transaction-hash, and that the URL is of its network.`,
  )
  if (result === null) throw unknown
  const { blockHash, blockNumber, transactionIndex } = readAnswer(WireLocation, result, call.method, origin)
  if (blockHash == null || blockNumber == null || transactionIndex == null) throw unknown
  const { header } = await headerOf(client, { hash: blockHash }, undefined, false)
  return { hash, blockHash, blockNumber, index: transactionIndex, parent: header.parentHash }
}

function noBlock(choice: BlockChoice, tip: number | undefined, origin: string): NodeError {
  const isAbove = 'number' in choice && tip !== undefined && choice.number > tip
  const reason = isAbove
    ? `its tip is block ${tip}`
    : tip === undefined
      ? 'it is unknown there'
      : `its tip is block ${tip}, and it does not serve this one`
  return failed(
    `The upstream ${origin} has no ${described(choice)}: ${reason}. Choose another with --fork-block, such as latest or -10.`,
  )
}

async function headerOf(
  client: RpcClient,
  choice: BlockChoice,
  tip: number | undefined,
  isVerified: boolean,
): Promise<Chosen> {
  const outcomes = await client.send(chosenCalls(choice, isVerified))
  return readChosen(outcomes, choice, tip, client.origin())
}

/** The header of the block that was chosen, and a proof at it. */
interface Chosen {
  readonly header: WireHeader
  readonly proof: RpcOutcome | undefined
}

/** Reads the outcomes of `chosenCalls`. */
function readChosen(
  [outcome, proof]: readonly RpcOutcome[],
  choice: BlockChoice,
  tip: number | undefined,
  origin: string,
): Chosen {
  const call = blockCall(choice)
  const isTag = 'tag' in choice
  if (isTag && outcome !== undefined && 'error' in outcome) {
    throw failed(
      `The upstream ${origin} refused the block "${choice.tag}": ${outcome.error.message}. Name a height or a hash with --fork-block.`,
    )
  }
  const result = resultOf(call, outcome, origin)
  if (result === null) throw noBlock(choice, tip, origin)
  const header = readAnswer(WireHeader, result, call.method, origin)
  const fits = 'hash' in choice ? header.hash === choice.hash : isTag || header.number === choice.number
  if (!fits)
    throw failed(
      `The upstream ${origin} answered ${described(choice)} with block ${header.number} (${header.hash}). Try another URL with --fork.`,
    )
  return { header, proof }
}

/** Asks the upstream: one request, two where the choice depends on its tip, three for a transaction. Throws `upstream`. */
export async function findOnline(client: RpcClient, settings: RemoteSettings): Promise<FoundPoint> {
  const { transaction: hash, chainId: expected, isVerified } = settings
  const choice = settings.block ?? LATEST
  const isRelative = 'number' in choice && choice.number < 0
  const isAskedLater = hash !== undefined || isRelative
  const outcomes = await client.send(
    isAskedLater ? IDENTITY : [...IDENTITY, ...chosenCalls(choice, isVerified)],
  )
  const origin = client.origin()
  const identity = identityOf(outcomes, expected, origin)
  const { tip } = identity
  let found: Chosen
  let transaction: ChosenTransaction | undefined
  if (hash !== undefined) {
    const { parent, ...chosen } = await chosenTransaction(client, hash)
    transaction = chosen
    found = await headerOf(client, { hash: parent }, tip, isVerified)
  } else if (isRelative) {
    if (tip + choice.number < 0) {
      throw failed(
        `The upstream ${origin} has no block ${-choice.number} below its tip, which is block ${tip}. Choose another with --fork-block.`,
      )
    }
    found = await headerOf(client, { number: tip + choice.number }, tip, isVerified)
  } else {
    found = readChosen(outcomes.slice(IDENTITY.length), choice, tip, origin)
  }
  const { header, proof } = found
  return {
    point: { chainId: identity.chainId, number: header.number, hash: header.hash },
    client: identity.client,
    // Blocks of this family have a minimum gas price, and no other chain's have.
    isSameFamily: header.minimumGasPrice !== undefined,
    ...(transaction !== undefined && { transaction }),
    ...(proof !== undefined && { proof }),
  }
}

function fits({ block }: CachedBlock, choice: BlockChoice | undefined): boolean {
  if (choice === undefined || 'tag' in choice) return true
  return 'hash' in choice ? block.hash === choice.hash : block.number === choice.number
}

/** Finds the fork point in the cache, which must have one that fits, and no other. Throws `upstream` naming what is missing. */
export async function findOffline(settings: RemoteSettings): Promise<FoundPoint> {
  const { cacheDir, chainId, block, transaction: hash } = settings
  if (cacheDir === undefined) throw missingOffline('a directory (--fork-cache-dir)')
  if (block !== undefined && 'number' in block && block.number < 0) {
    throw failed(
      'Offline there is no tip to count from: name the height or the hash of a cached block with --fork-block.',
    )
  }
  const points: FoundPoint[] = []
  const origins = settings.urls.map(originOf)
  const scope = cacheScope(origins)
  for (const candidate of await listCache(cacheDir, chainId)) {
    if (candidate.scope !== scope || !fits(candidate, block)) continue
    const memory = await readCached(candidate.path, { hash: candidate.block.hash, scope })
    const known = PointRecord.safeParse(memory.answer(POINT_KEY)?.value)
    if (!known.success) continue
    const { client, isSameFamily } = known.data
    const point = { chainId: candidate.chainId, ...candidate.block }
    const chosen =
      hash === undefined ? undefined : ChosenTransaction.safeParse(memory.answer(transactionKey(hash))?.value)
    if (chosen === undefined) points.push({ point, client, isSameFamily })
    else if (chosen.success) points.push({ point, client, isSameFamily, transaction: chosen.data })
  }
  const [found] = points
  const what =
    hash !== undefined ? `a fork at transaction ${hash}` : `a fork at ${described(block ?? LATEST)}`
  const network = chainId === undefined ? '' : ` of chain ${chainId}`
  if (found === undefined)
    throw missingOffline(`${what}${network} from ${origins.join(' and ')} in ${cacheDir}`)
  if (points.length > 1) {
    const list = points
      .slice(0, 5)
      .map(({ point }) => `${point.number} (${point.hash}) of chain ${point.chainId}`)
    throw failed(
      `Offline, and the cache in ${cacheDir} has ${points.length} forks: ${list.join(', ')}. Name one with --fork-block, or its chain with --fork-chain-id.`,
    )
  }
  return found
}
