/** The state of one block of the upstream: read out of what was fetched, fetched in batches. */
import { type Account, EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall, RpcOutcome } from '../../upstream/replies.ts'
import { BATCH_LIMIT } from '../../upstream/sender.ts'
import type { StorageValue } from '../state-keys.ts'
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
import type { RemoteBlockId, RemoteCall, RemoteState, StateItem } from './model.ts'
import { type CallPlace, type HintMethods, hintOf, runCall } from './remote-call.ts'
import { areChecked, stateRequests } from './state-requests.ts'
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

/** The names of the items whose records are proven, or of those whose records are not. */
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

/** The records of one block's state that are in memory, and those fetched in batches. */
export class FetchedState implements RemoteState {
  readonly block: RemoteBlockId
  readonly #parts: StateParts
  #cache: BlockCache | undefined
  /** Does the upstream not prove this block's state, though it proves others? */
  #isUnprovable = false
  /** Items for which a proof was asked for and none came: to ask again would not bring one. */
  readonly #unproven = new Set<string>()

  constructor(block: RemoteBlockId, parts: StateParts) {
    this.block = block
    this.#parts = parts
    this.#cache = parts.cache.loaded(block.hash)
  }

  /** An account whose code is missing counts as not fetched. */
  account(address: Hex): { readonly account: Account | undefined } | undefined {
    const found = this.#cache?.memory.account(address)
    if (found === undefined || !this.#isTaken(found, { kind: 'account', address })) return undefined
    if (found.account === undefined) return found
    return this.code(found.account.codeHash) === undefined ? undefined : found
  }

  cell(address: Hex, slot: bigint): StorageValue | undefined {
    const found = this.#cache?.memory.cell(address, slot)
    return found !== undefined && this.#isTaken(found, { kind: 'cell', address, slot })
      ? found.value
      : undefined
  }

  code(codeHash: Hex): Uint8Array | undefined {
    return codeHash === EMPTY_CODE_HASH ? EMPTY : this.#cache?.memory.code(codeHash)
  }

  async fetch(items: readonly StateItem[], ahead: readonly StateItem[] = []): Promise<void> {
    const { asker } = this.#parts
    const cache = await this.#load()
    const missing = this.#missingOf(items)
    asker.counts.hits += items.length - missing.length
    asker.counts.misses += missing.length
    if (missing.length === 0) return
    const { number, hash } = this.block
    const what = `${listed(missing)} at block ${number} (${hash})`
    if (asker.isOffline) throw missingOffline(what)
    const wanted = this.#missingOf([...missing, ...ahead])
    const records = await this.#ask(wanted, what, wanted.length > missing.length)
    // All or nothing: a wrong answer among them makes the others doubtful.
    const found = records ?? (await this.#ask(missing, what, false)) ?? []
    if (this.#mustProve()) for (const name of namesOf(found, false)) this.#unproven.add(name)
    cache.put(found)
  }

  async hint(call: RemoteCall): Promise<readonly StateItem[]> {
    return hintOf(call, await this.#callPlace(), this.#parts.hints)
  }

  async call(call: RemoteCall): Promise<Uint8Array> {
    return runCall(call, await this.#callPlace())
  }

  async #load(): Promise<BlockCache> {
    this.#cache ??= await this.#parts.cache.block(this.block)
    return this.#cache
  }

  #mustProve(): boolean {
    return !this.#isUnprovable && this.#parts.verification.appliesTo(this.block)
  }

  #isTaken({ isProven }: { readonly isProven: boolean }, item: StateItem): boolean {
    return isProven || !this.#mustProve() || this.#unproven.has(named(item))
  }

  /** Those that are not in memory, each once. */
  #missingOf(items: readonly StateItem[]): StateItem[] {
    const missing = new Map<string, StateItem>()
    for (const item of items) {
      const known = item.kind === 'account' ? this.account(item.address) : this.cell(item.address, item.slot)
      if (known === undefined) missing.set(named(item), item)
    }
    return [...missing.values()]
  }

  /** Records of the items, proven where the upstream serves proofs; `undefined` where it refuses a call and `mayRefuse`. */
  async #ask(
    items: readonly StateItem[],
    what: string,
    mayRefuse: boolean,
  ): Promise<CacheRecord[] | undefined> {
    if (!this.#mustProve()) return this.#askPlainly(items, what, mayRefuse)
    const { asker, verification } = this.#parts
    const proof = await verification.prove(this.block, items, (calls) => this.#send(calls, items, true, what))
    if (proof.kind === 'proven') {
      const proven = new Set(namesOf(proof.records, true))
      const rest = items.filter((item) => !proven.has(named(item)))
      const plain = rest.length === 0 ? [] : await this.#askPlainly(rest, what, mayRefuse)
      return plain && [...proof.records, ...plain]
    }
    if (proof.kind === 'refused') {
      if (mayRefuse) return undefined
      if (proof.call.method !== 'eth_getProof')
        throw refusal(proof.call, proof.failure.message, this.block, asker.origin())
    }
    this.#isUnprovable = true
    verification.noteUnproven(proof.kind === 'refused' ? proof.failure : proof.why)
    return this.#askPlainly(items, what, mayRefuse)
  }

  /** Records of the items, without proofs; `undefined` where the upstream refuses a call and `mayRefuse`. */
  async #askPlainly(
    items: readonly StateItem[],
    what: string,
    mayRefuse: boolean,
  ): Promise<CacheRecord[] | undefined> {
    const { asker, capabilities, config } = this.#parts
    const origin = asker.origin()
    const requests = stateRequests(items, { block: this.block, capabilities, config, origin })
    const calls = requests.flatMap((request) => request.calls)
    const outcomes = await this.#send(calls, items, false, what)
    const results: unknown[] = []
    for (const [index, call] of calls.entries()) {
      const outcome = outcomes[index]
      if (outcome !== undefined && 'error' in outcome) {
        if (mayRefuse) return undefined
        throw refusal(call, outcome.error.message, this.block, origin)
      }
      results.push(outcome?.result)
    }
    return requests.flatMap((request) => request.records(results.splice(0, request.calls.length)))
  }

  /** The outcomes of calls; where a block is read by its height, after a check that it is still there. */
  async #send(
    calls: readonly RpcCall[],
    items: readonly StateItem[],
    isProof: boolean,
    what: string,
  ): Promise<readonly RpcOutcome[]> {
    const { asker, capabilities } = this.#parts
    if (!areChecked(items, capabilities, isProof)) return asker.send(calls, what)
    const check = canonicalCall(this.block.number)
    const isOneBatch = calls.length < BATCH_LIMIT
    const outcomes = await asker.send(isOneBatch ? [...calls, check] : calls, what)
    const canonical = isOneBatch ? outcomes.at(-1) : (await asker.send([check], what))[0]
    const found = canonical !== undefined && 'result' in canonical ? canonical.result : undefined
    const hash = found ? readAnswer(WireHeader, found, check.method, asker.origin()).hash : undefined
    checkCanonical(this.block, hash, asker.origin())
    return outcomes.slice(0, calls.length)
  }

  async #callPlace(): Promise<CallPlace> {
    const { asker, capabilities } = this.#parts
    const { callAnchor } = capabilities
    return {
      block: this.block,
      parameter: blockParameter(this.block, callAnchor),
      isChecked: needsCheck(callAnchor, capabilities),
      asker,
      cache: await this.#load(),
    }
  }
}
