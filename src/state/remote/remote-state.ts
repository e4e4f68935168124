/** The state of one block of the upstream: read out of what was fetched, fetched in batches. */
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall, RpcOutcome } from '../../upstream/replies.ts'
import { BATCH_LIMIT } from '../../upstream/rpc-client.ts'
import { type Asker, missingOffline } from './asker.ts'
import type { BlockCache, RemoteCache } from './cache/block-cache.ts'
import type { CacheRecord } from './cache/records.ts'
import {
  blockParameter,
  type Capabilities,
  canonicalCall,
  checkCanonical,
  needsCheck,
} from './capabilities.ts'
import type { RemoteBlockId, RemoteState, StateItem } from './model.ts'
import { type CallPlace, type HintMethods, hintOf, runCall } from './remote-call.ts'
import { areChecked, type StateSource, stateRequests } from './state-requests.ts'
import type { Verification } from './verification.ts'
import { readAnswer, WireHeader } from './wire.ts'

/** What the states of all blocks share. */
export interface StateParts {
  readonly asker: Asker
  readonly cache: RemoteCache
  readonly config: ChainConfig
  readonly capabilities: Capabilities
  readonly hints: HintMethods
  readonly verification: Verification
}

/** Messages of nodes that have a block and no longer its state. */
const PRUNED =
  /missing trie node|pruned|state (is |root )?(not available|unavailable|not found|missing)|historical state|archive|header not found|distance to target block|block not found|unknown block/i

/** The name of an item, or of the record of one. */
function named(item: StateItem): string {
  return item.kind === 'account'
    ? `account ${item.address}`
    : `slot 0x${item.slot.toString(16)} of ${item.address}`
}

/** The names of the items that records stand for, those alone that are proven, or not. */
function namesOf(records: readonly CacheRecord[], isProven: boolean): string[] {
  return records.flatMap((record) =>
    (record.kind === 'account' || record.kind === 'cell') && record.isProven === isProven
      ? [named(record)]
      : [],
  )
}

/** The names of what is missing, the first few. */
function listed(items: readonly StateItem[]): string {
  const names = items.slice(0, 3).map(named).join(', ')
  return items.length > 3 ? `${names} and ${items.length - 3} more` : names
}

function refusal(
  { method }: RpcCall,
  message: string,
  { number, hash }: RemoteBlockId,
  origin: string,
): NodeError {
  const advice = PRUNED.test(message)
    ? `It does not have the state of block ${number} (${hash}); nodes that prune keep recent states only. Fork a later block with --fork-block, or name an archive node with --fork.`
    : 'Try again, or name another upstream with --fork.'
  return new NodeError(
    'upstream',
    `The upstream ${origin} refused ${method} at block ${number}: ${message}. ${advice}`,
  )
}

/** Reads what memory has and `isTaken`; an account whose code is not there counts as not fetched. */
function readsOf(
  cache: () => BlockCache | undefined,
  isTaken: (known: { readonly isProven: boolean }, item: StateItem) => boolean,
): Pick<RemoteState, 'account' | 'cell' | 'code'> {
  const code = (codeHash: Hex) => (codeHash === EMPTY_CODE_HASH ? EMPTY : cache()?.memory.code(codeHash))
  return {
    account(address) {
      const found = cache()?.memory.account(address)
      if (found === undefined || !isTaken(found, { kind: 'account', address })) return undefined
      if (found.account === undefined) return found
      return code(found.account.codeHash) === undefined ? undefined : found
    },
    cell(address, slot) {
      const found = cache()?.memory.cell(address, slot)
      return found !== undefined && isTaken(found, { kind: 'cell', address, slot }) ? found.value : undefined
    },
    code,
  }
}

/** The state after a block. Nothing is fetched yet. */
export function createRemoteState(block: RemoteBlockId, parts: StateParts): RemoteState {
  const { asker, cache, config, capabilities, hints, verification } = parts
  let own: BlockCache | undefined = cache.loaded(block.hash)
  /** Does the upstream refuse to prove this block's state, though that of others? */
  let isUnproven = false
  /** What was fetched here without a proof, though one was asked for: asking again would not bring one. */
  const unproven = new Set<string>()
  const mustProve = () => !isUnproven && verification.appliesTo(block)
  const reads = readsOf(
    () => own,
    ({ isProven }, item) => isProven || !mustProve() || unproven.has(named(item)),
  )

  async function load(): Promise<BlockCache> {
    own ??= await cache.block(block)
    return own
  }

  function unknownOf(items: readonly StateItem[]): StateItem[] {
    const unknown = new Map<string, StateItem>()
    for (const item of items) {
      const known =
        item.kind === 'account' ? reads.account(item.address) : reads.cell(item.address, item.slot)
      if (known === undefined) unknown.set(named(item), item)
    }
    return [...unknown.values()]
  }

  /** The outcomes of calls, and with them a check that the block is still at its height. */
  async function sendChecked(calls: readonly RpcCall[], what: string): Promise<readonly RpcOutcome[]> {
    const check = canonicalCall(block.number)
    const isOneBatch = calls.length < BATCH_LIMIT
    const outcomes = await asker.send(isOneBatch ? [...calls, check] : calls, what)
    const canonical = isOneBatch ? outcomes.at(-1) : (await asker.send([check], what))[0]
    const found = canonical !== undefined && 'result' in canonical ? canonical.result : undefined
    const hash = found ? readAnswer(WireHeader, found, check.method, asker.origin()).hash : undefined
    checkCanonical(block, hash, asker.origin())
    return outcomes.slice(0, calls.length)
  }

  async function fetch(items: readonly StateItem[], ahead: readonly StateItem[] = []): Promise<void> {
    const { put } = await load()
    const missing = unknownOf(items)
    asker.counts.hits += items.length - missing.length
    asker.counts.misses += missing.length
    if (missing.length === 0) return
    const what = `${listed(missing)} at block ${block.number} (${block.hash})`
    if (asker.isOffline) throw missingOffline(what)
    const wanted = unknownOf([...missing, ...ahead])
    const records = await ask(wanted, what, wanted.length > missing.length)
    // All or nothing: a wrong answer among them makes the others doubtful.
    const found = records ?? (await ask(missing, what, false)) ?? []
    if (mustProve()) for (const name of namesOf(found, false)) unproven.add(name)
    put(found)
  }

  /** What the upstream answers, proven where it serves proofs; nothing where it refuses a call and `mayRefuse`. */
  async function ask(
    items: readonly StateItem[],
    what: string,
    mayRefuse: boolean,
  ): Promise<CacheRecord[] | undefined> {
    if (!mustProve()) return askPlainly(items, what, mayRefuse)
    const send = areChecked(items, capabilities, true) ? sendChecked : asker.send
    const proof = await verification.prove(block, items, (calls) => send(calls, what))
    if (proof.kind === 'proven') {
      const proven = new Set(namesOf(proof.records, true))
      const rest = items.filter((item) => !proven.has(named(item)))
      const plain = rest.length === 0 ? [] : await askPlainly(rest, what, mayRefuse)
      return plain && [...proof.records, ...plain]
    }
    if (proof.kind === 'refused') {
      if (mayRefuse) return undefined
      if (proof.call.method !== 'eth_getProof')
        throw refusal(proof.call, proof.failure.message, block, asker.origin())
    }
    isUnproven = true
    verification.noteUnproven(proof.kind === 'refused' ? proof.failure : proof.why)
    return askPlainly(items, what, mayRefuse)
  }

  /** What the upstream answers; nothing where it refuses a call and `mayRefuse`. */
  async function askPlainly(
    items: readonly StateItem[],
    what: string,
    mayRefuse: boolean,
  ): Promise<CacheRecord[] | undefined> {
    const source: StateSource = { block, capabilities, config, origin: asker.origin() }
    const requests = stateRequests(items, source)
    const calls = requests.flatMap((request) => request.calls)
    const send = areChecked(items, capabilities, false) ? sendChecked : asker.send
    const outcomes = await send(calls, what)
    if (mayRefuse && outcomes.some((outcome) => 'error' in outcome)) return undefined
    const results = outcomes.map((outcome, index) => {
      if ('result' in outcome) return outcome.result
      throw refusal(calls[index] as RpcCall, outcome.error.message, block, asker.origin())
    })
    let at = 0
    const records: CacheRecord[] = []
    for (const request of requests) {
      records.push(...request.records(results.slice(at, at + request.calls.length)))
      at += request.calls.length
    }
    return records
  }

  async function callPlace(): Promise<CallPlace> {
    const { callAnchor } = capabilities
    return {
      block,
      parameter: blockParameter(block, callAnchor),
      isChecked: needsCheck(callAnchor, capabilities),
      asker,
      cache: await load(),
    }
  }

  return {
    block,
    ...reads,
    fetch,
    hint: async (call) => hintOf(call, await callPlace(), hints),
    call: async (call) => runCall(call, await callPlace()),
  }
}
